import { type TaskTokens, tokensOf } from './task-tokens.ts';
import { withSession } from './with-session.ts';

/** Makes a call with the user's current Task Token, and once more with a new one after a 401, as `withSession` does. */
export const withTaskToken = <T>(
  tokens: TaskTokens,
  target: string,
  call: (taskToken: string) => Promise<T>,
): Promise<T> => withSession(tokensOf(tokens, target), call);
