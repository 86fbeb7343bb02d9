import type { Extraction } from '#lib/extraction/record.ts';
import type { StoredEntry } from '#lib/rate-limit/start-line.ts';
import type { Timer } from './timers.ts';

/** How an invocation of a function ended. */
export type ProcessEnd<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'interrupted'; readonly of: 'crash' | 'timeout' };

/** One invocation of one function. After it has ended, nothing of it runs again. */
export class Process {
  readonly name: string;
  readonly startedAt: number;
  readonly timeoutAt: number;
  /** The processes that ran when it started. */
  readonly alongside: ReadonlySet<Process>;
  alive = true;
  timeout: Timer | undefined;
  /** Its start attempts. */
  readonly attemptIds: string[] = [];
  /** The record in the first answer of the table to this process, */
  firstSeen: Extraction | undefined;
  /** and in the last. */
  lastSeen: Extraction | undefined;
  /** When it was last answered, or began. What it does next was decided then, however late it takes effect. */
  learnedAt: number;
  /** The item of the start in the line, when it last read it. */
  seenInLine: StoredEntry | undefined;
  /** The cause of the message that it consumes. */
  cause: string | undefined;
  /** The `dueAt` of that message, */
  dueAt: string | undefined;
  /** and whether it is of the slow queue. */
  isSlow: boolean | undefined;
  /** Whether an operator invoked it. */
  byOperator = false;
  /** Whether it reads the consent of a refused start, or has ended while it did. */
  isReadingConsent = false;
  /** Whether it wrote the close of the record. */
  hasClosed = false;
  /** How often it started to read the provider. */
  reads = 0;
  /** Its calls that failed, or whose answers were lost, */
  failedCalls = 0;
  /** and how often each write failed among them. */
  readonly failedWrites = new Map<string, number>();
  /** Whether it was ended before it returned. */
  interrupted = false;
  /** Called once if it did not return by itself. */
  readonly onInterrupted: (of: 'crash' | 'timeout') => void;

  constructor(
    name: string,
    startedAt: number,
    timeoutAt: number,
    alongside: ReadonlySet<Process>,
    onInterrupted: Process['onInterrupted'],
  ) {
    this.name = name;
    this.startedAt = startedAt;
    this.learnedAt = startedAt;
    this.timeoutAt = timeoutAt;
    this.alongside = alongside;
    this.onInterrupted = onInterrupted;
  }
}

export const wentWell = ({ interrupted, failedCalls }: Process): boolean => !interrupted && failedCalls === 0;

/** Every write from the `STARTING` write on is tried three times. */
export const hasFailedThrice = ({ failedWrites }: Process, write: string): boolean =>
  (failedWrites.get(write) ?? 0) >= 3;
