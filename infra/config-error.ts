/** Settings are missing, unknown, invalid or contradict each other. The message has one sentence for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
