import { encryptCredentials } from './encrypt-and-decrypt.ts';
import type { TaskRequest } from './tasks/check-task-request.ts';

/**
 * Returns the request with its raw credentials encrypted under the session token that it will be sent with. Other
 * credentials stay unchanged. Call it again for each token, because the token is the key.
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
