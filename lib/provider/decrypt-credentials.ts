import { decryptText, UndecryptableText } from './encryption-scheme.ts';

/**
 * Undoes `encryptCredentials`. Throws UndecryptableText for a text that is malformed, was encrypted under
 * another token, or holds no JSON object: the same for every cause.
 */
export const decryptCredentials = (text: string, sessionToken: string): Record<string, unknown> => {
  const bytes = decryptText(text, sessionToken);
  let credentials: unknown;
  try {
    credentials = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // JSON.parse's error quotes what it read.
    throw new UndecryptableText();
  }
  if (typeof credentials !== 'object' || credentials === null || Array.isArray(credentials)) {
    throw new UndecryptableText();
  }
  return credentials as Record<string, unknown>;
};
