/**
 * Settings are missing, unknown, invalid or contradict each other. The message has one sentence for each. Apart from
 * config.ts, because the published types contain this file and no valibot.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
