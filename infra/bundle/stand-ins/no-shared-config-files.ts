/**
 * Replaces the SDK's reader of `~/.aws/config` and `~/.aws/credentials`, which do not exist on Lambda. The real one returns
 * the same when it finds no files. It has 2 KB, loads `node:fs/promises`, which takes 1.4 ms, and searches for the files
 * before the first call.
 */
// biome-ignore lint/style/useNamingConvention: the name that the SDK's module exports
export const CONFIG_PREFIX_SEPARATOR = '.';

export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
