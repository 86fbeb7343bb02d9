/**
 * Stands in for the SDK's reader of `~/.aws/config` and `~/.aws/credentials`. On Lambda there are none, and the real
 * one answers just this when it finds none. It is asked for each setting that no environment variable gives.
 * Without it nothing loads `node:fs/promises` either, which takes longer than the code here.
 */
export const CONFIG_PREFIX_SEPARATOR = '.';

export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
