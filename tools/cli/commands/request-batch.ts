import { ApiError } from '../../../lib/client/api-errors.ts';
import { type BatchProgress, type BatchRequest, requestAll } from '../../../lib/client/request-all.ts';
import type { SendDeps } from '../../../lib/client/send-with-retries.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { progressOf } from '../terminal/progress-bar.ts';

type Batch = {
  readonly base: string;
  readonly batch: string;
  readonly requests: readonly BatchRequest[];
  /** What a request is of, as a text and as a fact. */
  readonly nameOf: (index: number) => readonly [text: string, fact: Readonly<Record<string, unknown>>];
  readonly facts: Readonly<Record<string, unknown>>;
  /** What else is counted, such as `2 without the national id of their consent`. */
  readonly others?: readonly string[];
};

export const count = (number: number): string => number.toLocaleString('en');

/** Requests all under a batch, shows how far it is, and prints each that was refused and how many were requested. */
export const requestBatch = async (
  { base, batch, requests, nameOf, facts, others = [] }: Batch,
  shell: Shell,
  deps: SendDeps,
): Promise<BatchProgress> => {
  const show = progressOf(shell, requests.length, 'requested');
  const onProgress = ({ accepted, replayed, refused }: BatchProgress) =>
    show(accepted + replayed + refused.length);
  const progress = await requestAll(base, requests, { batch, onProgress }, deps);
  shell.wait(undefined);
  const { accepted, replayed, refused } = progress;
  for (const { index, error } of refused) {
    const [text, fact] = nameOf(index);
    const lines = error instanceof ApiError ? error.lines : [error.message];
    shell.print(`${text}: ${lines.join(' ')}`, { ...fact, error: lines.join('\n') });
  }
  const counts = [
    `${count(accepted)} requested`,
    ...(replayed === 0 ? [] : [`${count(replayed)} before`]),
    ...(refused.length === 0 ? [] : [`${count(refused.length)} refused`]),
    ...others,
  ];
  const numbers = { requested: accepted, requestedBefore: replayed, refused: refused.length };
  shell.print(`${counts.join(', ')}.`, { ...facts, ...numbers });
  return progress;
};
