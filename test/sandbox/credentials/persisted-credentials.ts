/**
 * The document does not show the provider's persistent encryption. In the sandbox a persisted value is the base64 of the
 * raw credentials' JSON.
 */
export const persistCredentials = (raw: Readonly<Record<string, unknown>>): string =>
  Buffer.from(JSON.stringify(raw), 'utf8').toString('base64');

export const openPersistedCredentials = (value: string): string =>
  Buffer.from(value, 'base64').toString('utf8');
