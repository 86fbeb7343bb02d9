import type { ClientContext } from '../client-context.ts';
import {
  createLegalPersonOtpToken,
  createOtpToken,
  type LegalPersonOtpTokenRequest,
  type OtpToken,
  type OtpTokenRequest,
} from './create-otp-token.ts';
import { createTaskToken, type TaskToken } from './create-task-token.ts';
import { withSession } from './with-session.ts';

/** "Session token", "Create OTP token", "Create Task Token". */
export const tokenCalls = ({ connection, apiKey, clientId, sessions }: ClientContext) => {
  const taskTokenFor = async (target: string): Promise<TaskToken> =>
    createTaskToken(connection, await apiKey(), { target, clientId });

  return {
    /** The session token in use: what `encryptCredentials` takes. Logs in if there is none. */
    sessionToken: (): Promise<string> => sessions.current(),

    /** For a natural person. */
    createOtpToken: async (request: Omit<OtpTokenRequest, 'clientId'>): Promise<OtpToken> =>
      createOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** For a legal person: with `company`. */
    createLegalPersonOtpToken: async (
      request: Omit<LegalPersonOtpTokenRequest, 'clientId'>,
    ): Promise<OtpToken> => createLegalPersonOtpToken(connection, await apiKey(), { ...request, clientId }),

    /** A Task Token for one user. It expires after a time that is not shown; keep it as long as it serves. */
    createTaskToken: taskTokenFor,

    /**
     * Makes one call with a Task Token for `target`; if the provider no longer takes it, once more with a new
     * one. The call is made again from its start: give it one that may be, such as a wait.
     */
    withTaskToken: <T>(target: string, call: (token: TaskToken) => Promise<T>): Promise<T> =>
      withSession({ current: () => taskTokenFor(target), drop: () => undefined }, call),
  };
};
