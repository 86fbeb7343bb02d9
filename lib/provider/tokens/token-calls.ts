/** Only in the published client (docs/provider-client.md). */

import type { ClientContext } from '../client-context.ts';
import {
  createLegalPersonOtpToken,
  createOtpToken,
  type LegalPersonOtpTokenRequest,
  type OtpToken,
  type OtpTokenRequest,
} from './create-otp-token.ts';
import { withSession } from './session-tokens.ts';
import { createTaskToken, type TaskToken } from './task-tokens.ts';

/** "Session token", "Create OTP token", "Create Task Token". */
export const tokenCalls = ({ connection, apiKey, clientId, sessions }: ClientContext) => {
  const taskTokenFor = async (target: string): Promise<TaskToken> =>
    createTaskToken(connection, await apiKey(), { target, clientId });

  return {
    /** Returns the current session token, for `encryptCredentials`. Logs in if there is none. */
    sessionToken: (): Promise<string> => sessions.current(),

    /** For a natural person. */
    createOtpToken: async (request: Omit<OtpTokenRequest, 'clientId'>): Promise<OtpToken> =>
      createOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** For a legal person. */
    createLegalPersonOtpToken: async (
      request: Omit<LegalPersonOtpTokenRequest, 'clientId'>,
    ): Promise<OtpToken> => createLegalPersonOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** Creates a Task Token for one user. Its lifetime is not shown, so use it until it is refused. */
    createTaskToken: taskTokenFor,

    /**
     * Makes a call with a Task Token for `target`. If the provider refuses the token, the whole call is made once more with a new one. So
     * the call must be safe to repeat, as a wait is.
     */
    withTaskToken: <T>(target: string, call: (token: TaskToken) => Promise<T>): Promise<T> =>
      withSession({ current: () => taskTokenFor(target), drop: () => undefined }, call),
  };
};
