import type { TaskToken } from './tokens/create-task-token.ts';
import type { SessionTokens } from './tokens/session-tokens.ts';
import type { Connection } from './transport/send-request.ts';
import type { WaitOptions } from './transport/wait-until.ts';

/** What the parts of the composed client share. */
export type ClientContext = {
  readonly connection: Connection;
  /** Asked before every call that needs it, so that a rotated key is picked up. */
  readonly apiKey: () => Promise<string>;
  readonly clientId: string;
  readonly sessions: SessionTokens;
  /** A wait by the client's own clock, unless the call brings another. */
  readonly waiting: (options?: WaitOptions) => WaitOptions;
};

/** The part of a Task Token that a call needs. */
export type WithTaskToken = Pick<TaskToken, 'taskToken'>;
