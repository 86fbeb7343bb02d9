import type { ActionResult, TerminalStatus } from './record.ts';

/** What a read of the provider told of a task, whatever its method. */
export type Reading =
  /** `known` is false where the provider said so by a word that the document does not have. */
  | { readonly kind: 'running'; readonly known: boolean }
  /**
   * The answer was over the cap, and was not kept: there are results, so the task has ended. `taskStatus` is there
   * where the HTTP status alone says how.
   */
  | { readonly kind: 'too-large'; readonly taskStatus?: TerminalStatus }
  | {
      readonly kind: 'ended';
      readonly taskStatus: TerminalStatus;
      /** Why, in a word of the provider's, where the status does not say it. */
      readonly reason?: string;
      /** The answer's body as received; absent where there are no results to store. */
      readonly results?: Uint8Array;
      readonly actionResults?: readonly ActionResult[];
      /** Whether the results have the documented form. */
      readonly expected: boolean;
    };
