import { type Entry, isPoll } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import type { Sample } from '../run/sample.ts';
import { type Charge, merge, times } from './charge.ts';
import { billedMsOf, invocationCharges, type Known, logCharge } from './invocation-charges.ts';
import { machineLogBytes } from './log-bytes.ts';
import { transitionsIn } from './transitions.ts';

/** How often a poll finds the task running. The first may cost more than the others. */
export type Polls = { readonly first: number; readonly further: number };

export const FIRST_POLL = 'reconcile-extraction, first poll';
export const FURTHER_POLL = 'reconcile-extraction, further polls';

type Kind = {
  readonly where: string;
  readonly entries: readonly Entry[];
  /** Of the function, for each invocation of this kind. */
  readonly cpuMs: number;
};

/** A function's invocations are of one kind, except those that find the task running. */
const kindsOf = (samples: readonly Sample[]): readonly Kind[] => {
  const kinds = new Map<string, Entry[]>();
  for (const { entries } of samples) {
    let polls = 0;
    for (const entry of entries) {
      const polled = isPoll(entry);
      if (polled) polls += 1;
      const where = !polled ? entry.function : polls === 1 ? FIRST_POLL : FURTHER_POLL;
      kinds.set(where, [...(kinds.get(where) ?? []), entry]);
    }
  }
  return [...kinds].map(([where, entries]) => ({
    where,
    entries,
    cpuMs: median(entries.map(({ cpuMs }) => cpuMs)),
  }));
};

/** How often an extraction has an invocation of this kind, if the samples had it. */
const shareOf = ({ where, entries }: Kind, samples: number, polls: Polls): number => {
  if (where === FIRST_POLL) return polls.first / entries.length;
  if (where === FURTHER_POLL) return polls.further / entries.length;
  return 1 / samples;
};

/** Of the line of an outcome: one rule of the alarm `bank-failing` counts all of them, and another each of its two kinds. */
const matched: Charge = {
  where: 'alarms',
  what: 'lines that match a rule',
  price: 'matchedEvent',
  quantity: 2,
};

/**
 * The charges of an extraction on this path, with as many polls as on AWS: the samples have fewer. The transitions do not
 * include Start and End.
 */
export const pathCharges = (samples: readonly Sample[], polls: Polls, known: Known): readonly Charge[] => {
  const ofFunctions = kindsOf(samples).flatMap((kind) =>
    times(
      kind.entries.flatMap((entry) =>
        invocationCharges(entry, kind.cpuMs, known).map((item) => ({ ...item, where: kind.where })),
      ),
      shareOf(kind, samples.length, polls),
    ),
  );
  const pollsOnAws = polls.first + polls.further;
  const ofMachine = samples.flatMap(({ history, entries }): readonly Charge[] => {
    const pollsHere = entries.filter(({ failed }) => failed).length;
    // Polls by the queue are no transitions.
    const retriesOnAws = pollsHere === 0 ? 0 : pollsOnAws;
    const { entered, retries } = transitionsIn(history);
    const poll = machineLogBytes('TaskFailed');
    const logged = history.reduce((sum, { type = '' }) => sum + machineLogBytes(type), 0);
    const where = 'machine';
    return [
      { where, what: 'states entered', price: 'transition', quantity: entered },
      { where, what: 'retries', price: 'transition', quantity: retries - pollsHere + retriesOnAws },
      { where, ...logCharge('its own log', logged + (retriesOnAws - pollsHere) * poll) },
    ];
  });
  const downloads = samples.map(
    (sample): Charge => ({
      where: 'caller',
      what: 'GET of the results',
      price: 'get',
      quantity: sample.downloads,
    }),
  );
  const all = merge([...times([...ofMachine, ...downloads], 1 / samples.length), ...ofFunctions, matched]);
  return all.filter(({ quantity }) => quantity > 0);
};

/** The invocations of a path: measured CPU time and billed duration. */
export const durationsOf = (samples: readonly Sample[], { facts }: Known) =>
  kindsOf(samples).map(({ where, entries, cpuMs }) => {
    const memoryMB = facts.memoryMB[entries[0]?.function ?? ''] ?? 0;
    const billedMs = median(entries.map((entry) => billedMsOf(entry, { cpuMs, memoryMB })));
    return { where, cpuMs, memoryMB, billedMs };
  });
