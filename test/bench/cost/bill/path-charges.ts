import type { HistoryEvent } from '../../../support/aws/follow-execution.ts';
import { type Entry, isPoll } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import type { Sample } from '../run/extract.ts';
import { billedMs } from './billed-duration.ts';
import { type Charge, merge, times } from './charge.ts';
import { invocationCharges, type Known, logCharge, memoryOf } from './invocation-charges.ts';
import { machineLogBytes } from './log-bytes.ts';

/** How often a poll finds the task running. The first may cost more than the others. */
export type Polls = { readonly first: number; readonly further: number };

export const START_AND_END = 'Start and End';
export const FIRST_POLL = 'reconcile-extraction, first poll';
export const FURTHER_POLL = 'reconcile-extraction, further polls';

/** Invocations of one kind: those of a function, except that polls which find the task running are kinds of their own. */
type Kind = { readonly where: string; readonly entries: readonly Entry[]; readonly cpuMs: number };

const kindsOf = (samples: readonly Sample[]): readonly Kind[] => {
  const named = samples.flatMap(({ entries }) => {
    const [first] = entries.filter(isPoll);
    const nameOf = (entry: Entry): string => {
      if (!isPoll(entry)) return entry.function;
      return entry === first ? FIRST_POLL : FURTHER_POLL;
    };
    return entries.map((entry) => ({ entry, where: nameOf(entry) }));
  });
  return [...Map.groupBy(named, ({ where }) => where)].map(([where, ofKind]) => ({
    where,
    entries: ofKind.map(({ entry }) => entry),
    cpuMs: median(ofKind.map(({ entry }) => entry.cpuMs)),
  }));
};

/** How often an extraction has an invocation of this kind, if the samples had it. */
const shareOf = ({ where, entries }: Kind, samples: number, polls: Polls): number => {
  if (where === FIRST_POLL) return polls.first / entries.length;
  if (where === FURTHER_POLL) return polls.further / entries.length;
  return 1 / samples;
};

/**
 * The transitions of a history without Start and End: "each time a step of your workflow is executed … including retries"
 * (https://aws.amazon.com/step-functions/pricing/). Each entered state is one, and each retry of a task is one.
 */
export const transitionsIn = (history: readonly HistoryEvent[]) => {
  const count = (type: RegExp) => history.filter((event) => type.test(event.type ?? '')).length;
  const entered = count(/StateEntered$/);
  const retries = count(/^(Task|LambdaFunction)Scheduled$/) - count(/^TaskStateEntered$/);
  return { entered, retries };
};

const machineCharges = ({ history, entries }: Sample, { first, further }: Polls): readonly Charge[] => {
  const pollsHere = entries.filter(({ failed }) => failed).length;
  // Polls by the queue are no transitions.
  const pollsOnAws = pollsHere === 0 ? 0 : first + further;
  const { entered, retries } = transitionsIn(history);
  const logged = history.reduce((sum, { type = '' }) => sum + machineLogBytes(type), 0);
  const loggedOnAws = logged + (pollsOnAws - pollsHere) * machineLogBytes('TaskFailed');
  const where = 'machine';
  return [
    { where, what: 'states entered', price: 'transition', quantity: entered },
    // AWS's pricing page does not state whether they are steps. Its example of a workflow counts them.
    { where, what: START_AND_END, price: 'transition', quantity: 2 },
    { where, what: 'retries', price: 'transition', quantity: retries - pollsHere + pollsOnAws },
    { where, ...logCharge('its own log', loggedOnAws) },
  ];
};

/** Each extraction has its results fetched through the presigned URL. */
const download: Charge = { where: 'caller', what: 'GET of the results', price: 'get', quantity: 1 };

/** The charges of an extraction on this path, with as many polls as on AWS: the samples have fewer. */
export const pathCharges = (samples: readonly Sample[], polls: Polls, known: Known): readonly Charge[] => {
  const ofMachine = samples.flatMap((sample) => machineCharges(sample, polls));
  const ofFunctions = kindsOf(samples).flatMap((kind) => {
    const charges = kind.entries.flatMap((entry) => invocationCharges(entry, kind.cpuMs, known, kind.where));
    return times(charges, shareOf(kind, samples.length, polls));
  });
  const all = [...times(ofMachine, 1 / samples.length), download, ...ofFunctions];
  return merge(all).filter(({ quantity }) => quantity > 0);
};

/** The invocations of a path: measured CPU time and billed duration. */
export const durationsOf = (samples: readonly Sample[], { facts }: Known) =>
  kindsOf(samples).map(({ where, entries, cpuMs }) => {
    const memoryMB = memoryOf(entries[0]?.function ?? where, facts);
    return {
      where,
      cpuMs,
      memoryMB,
      billedMs: median(entries.map((one) => billedMs(one.calls, cpuMs, memoryMB))),
    };
  });
