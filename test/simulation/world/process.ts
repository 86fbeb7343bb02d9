import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Timer } from './timers.ts';

/** How an invocation of a function ended. */
export type ProcessEnd<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'died'; readonly of: 'crash' | 'timeout' };

/** One invocation of one function. Once it is dead, nothing of it runs again. */
export type Process = {
  readonly name: string;
  readonly bornAt: number;
  readonly diesAt: number;
  /** The processes that ran when it began. */
  readonly alongside: ReadonlySet<Process>;
  alive: boolean;
  timeout: Timer | undefined;
  /** The attempts at starting that it has made. */
  readonly attemptIds: string[];
  /** The record, as the last answer that it got of the table showed it. */
  shown: Extraction | undefined;
  /** Reads of the provider, or of what a webhook left, that it has begun. */
  triedToRead: number;
  /** Calls of its own that failed, or whose answers it never heard, */
  failedCalls: number;
  /** and those of them that were to write. */
  failedWrites: number;
  /** Whether it was ended before its end. */
  fell: boolean;
  /** Called once, with `died`, where it did not come to its own end. */
  readonly died: (of: 'crash' | 'timeout') => void;
};
