import { encryptCredentials } from './encryption-scheme.ts';
import type { TaskRequest } from './tasks/task-request.ts';

/**
 * The same request with raw credentials encrypted under the session token that it will be sent with; other
 * credentials stay as they are. To be called again for every token: the ciphertext is keyed by it.
 */
export const encryptRawCredentials = (
  request: TaskRequest,
  sessionToken: string,
  iv?: Uint8Array,
): TaskRequest => {
  const { credentials } = request;
  if (credentials.mode !== 'raw') return request;
  const value = encryptCredentials(credentials.value, sessionToken, iv);
  return { ...request, credentials: { mode: 'encrypted', value } };
};
