import type { HistoryEvent } from '../../../support/follow-execution.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Logged } from './read-logs.ts';

/** The measured paths through the system. */
export const paths = ['happy', 'polled', 'consent'] as const;

export type Path = (typeof paths)[number];

/** One extraction, from its request until its caller has the results. */
export type Sample = {
  readonly history: readonly HistoryEvent[];
  readonly entries: readonly Entry[];
  /** Objects that the caller fetched through the presigned URL. */
  readonly downloads: number;
};

export type Measured = {
  readonly samples: Readonly<Record<Path, readonly Sample[]>>;
  /** Deliveries with a signature that none of our keys made. */
  readonly forged: readonly Entry[];
  /** Every invocation of the run in order, warm-up included, because items are followed through them. */
  readonly all: readonly Entry[];
  /** By the invocation's request id. */
  readonly logs: ReadonlyMap<string, Logged>;
  /** Outputs of the deployed stack by name. */
  readonly outputs: Readonly<Record<string, string>>;
};
