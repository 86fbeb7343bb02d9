/**
 * Stands in for the SDK's reader of `~/.aws/config` and `~/.aws/credentials`. On Lambda there are none, and the real
 * one answers just this when it finds none. Without it nothing loads `node:fs/promises` either, which takes 1.4 ms,
 * more than its own 2 KB; and nothing looks for the files before the first call.
 */
// biome-ignore lint/style/useNamingConvention: the name that the SDK's module exports
export const CONFIG_PREFIX_SEPARATOR = '.';

export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
