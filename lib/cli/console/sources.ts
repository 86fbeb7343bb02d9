import type { Extraction } from '../../extraction/record.ts';
import { CliError } from '../errors.ts';
import { explainFailure } from '../explain-failure.ts';

/** What could be read of one place, or why it could not be read, such as a missing permission. */
export type Part<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Reads a part. An expected failure of AWS or the network is part of the page. Throws any other: it is a defect. */
export const readPart = async <Value>(read: () => Promise<Value>): Promise<Part<Value>> => {
  try {
    return { kind: 'read', value: await read() };
  } catch (error) {
    const why = error instanceof CliError ? error.message : explainFailure(error);
    if (why === undefined) throw error;
    return { kind: 'unreadable', why };
  }
};

/** Items of a list that has a limit. `complete`: the limit was not reached. */
export type Bounded<Item> = { readonly items: readonly Item[]; readonly complete: boolean };

/** What the console reads of a deployment. Every method throws the SDK's errors; `readPart` explains them. */
export interface ConsoleSources {
  /** Every open record. Eventually consistent. */
  open(): Promise<readonly Extraction[]>;
  /** The records of the newest executions since then, open ones too. */
  recent(since: Date): Promise<Bounded<Extraction>>;
  record(extractionId: string): Promise<Extraction | undefined>;
}
