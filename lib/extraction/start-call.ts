import type { Tokens } from '../provider/tokens/tokens.ts';

/** The start call of one extraction, ready to be made: all that its method makes different about a start. */
export type StartCall = {
  readonly tokens: Tokens;
  /** A token that the caller brought cannot be replaced by one of ours. */
  readonly renewable: boolean;
  /** Makes the call and returns the taskId. Called again for another token, after a 401 only. */
  readonly post: (token: string) => Promise<string>;
};
