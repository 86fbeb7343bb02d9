import { longTaskSeconds, providerAnswerMs, taskSeconds } from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import { unitsOf } from '../../units/dynamo-units.ts';
import type { Sample } from '../run/extract.ts';
import type { Measured } from '../run/measure.ts';
import type { Facts } from '../template-facts.ts';
import { merge, times } from './charge.ts';
import { coldStartCharges, coldStartsOf } from './cold-starts.ts';
import { pollsByMachine, pollsByQueue } from './expected-polls.ts';
import { invocationCharges, type Known } from './invocation-charges.ts';
import { durationsOf, type Polls, pathCharges } from './path-charges.ts';
import { storedCharges } from './stored-charges.ts';
import { withTaskTokens } from './with-task-tokens.ts';

export type Bill = ReturnType<typeof billOf>;
export type PricedPath = Bill['happy'];

const pollsOf = (count: number): Polls => ({ first: Math.min(1, count), further: Math.max(0, count - 1) });

/** The polls of the machine after it has waited for a webhook. */
const pollsAfterWait = ({ machine }: Facts, lastsSeconds: number): Polls => {
  const leftSeconds = lastsSeconds - machine.webhookWaitSeconds;
  return pollsOf(pollsByMachine(machine.poll, leftSeconds, providerAnswerMs / 1_000));
};

/** The largest item of each table, in bytes. */
const largestItems = (happy: readonly Sample[], { units }: Known): ReadonlyMap<string, number> => {
  const largest = new Map<string, number>();
  for (const call of happy.flatMap(({ entries }) => entries).flatMap(({ calls }) => calls)) {
    const { table, bytes } = units.get(call) ?? {};
    if (table !== undefined) largest.set(table, Math.max(largest.get(table) ?? 0, bytes ?? 0));
  }
  return largest;
};

const MONTH_SECONDS = 30 * 86_400;

/** A month of forged deliveries, as many as the throttle lets through. */
const floodOf = (forged: readonly Entry[], known: Known) => {
  const cpuMs = median(forged.map((entry) => entry.cpuMs));
  const charges = forged.flatMap((entry) => invocationCharges(entry, cpuMs, known));
  const perSecond = known.facts.webhookRateLimit;
  return {
    perSecond,
    deliveries: perSecond * MONTH_SECONDS,
    charges: merge(times(charges, 1 / forged.length)),
  };
};

/** The bill of the measured run, by the template and the prices. */
export const billOf = ({ samples, forged, all, logs, tables }: Measured, facts: Facts) => {
  const known: Known = { facts, logs, units: unitsOf(all, tables) };
  const coldStarts = coldStartsOf(all, facts);
  const largest = largestItems(samples.happy, known);
  const priced = (name: string, measured: readonly Sample[], polls: Polls) => {
    const warm = pathCharges(measured, polls, known);
    const worked = [...warm, ...coldStartCharges(warm, coldStarts, facts)];
    const charges = [...worked, ...storedCharges(largest, worked, facts.retention)];
    return { name, charges };
  };
  const happy = priced('happy', samples.happy, pollsOf(0));
  const polled = priced('polled', samples.polled, pollsAfterWait(facts, taskSeconds));
  const longName = `polled, ${longTaskSeconds / 60} min`;
  const long = priced(longName, samples.polled, pollsAfterWait(facts, longTaskSeconds));
  const byQueue = pollsOf(pollsByQueue(facts.machine.poll, taskSeconds));
  const consent = priced('consent', withTaskTokens(samples.consent), byQueue);
  return {
    happy,
    consent,
    paths: [happy, polled, long, consent],
    flood: floodOf(forged, known),
    durations: durationsOf(samples.happy, known),
  };
};
