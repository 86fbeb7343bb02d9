/** Only in the published client (docs/provider-client.md). */

import type { SessionTokens } from './tokens/session-tokens.ts';
import type { TaskToken } from './tokens/task-tokens.ts';
import type { Connection } from './transport/send-request.ts';
import type { WaitOptions } from './transport/wait-until.ts';

/** The dependencies that the parts of the client share. */
export type ClientContext = {
  readonly connection: Connection;
  /** Called before every call that needs the key, so that a rotated key is used. */
  readonly apiKey: () => Promise<string>;
  readonly clientId: string;
  readonly sessions: SessionTokens;
  /** Adds the client's clock to the options of a wait that have none. */
  readonly waiting: (options?: WaitOptions) => WaitOptions;
};

/** The part of a Task Token that a call needs. */
export type WithTaskToken = Pick<TaskToken, 'taskToken'>;
