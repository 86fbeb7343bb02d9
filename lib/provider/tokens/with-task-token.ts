import { type TaskTokens, tokensOf } from './task-tokens.ts';
import { withSession } from './with-session.ts';

/** As `withSession`, with the Task Token of a user. */
export const withTaskToken = <T>(
  tokens: TaskTokens,
  target: string,
  call: (taskToken: string) => Promise<T>,
): Promise<T> => withSession(tokensOf(tokens, target), call);
