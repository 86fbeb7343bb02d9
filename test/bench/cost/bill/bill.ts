import { longTaskSeconds, providerAnswerMs, taskSeconds } from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import { asOnAws } from '../../units/as-on-aws.ts';
import { unitsOf } from '../../units/dynamo-units.ts';
import { deployedTables } from '../../units/tables.ts';
import type { Facts } from '../read-template.ts';
import type { Measured, Path } from '../run/sample.ts';
import { type Charge, merge, times } from './charge.ts';
import { type ColdStart, coldStartCharges, coldStartsOf } from './cold-starts.ts';
import { expectedPolls, pollsByQueue } from './expected-polls.ts';
import { invocationCharges, type Known } from './invocation-charges.ts';
import { durationsOf, type Polls, pathCharges } from './path-charges.ts';
import { withTaskTokens } from './task-tokens.ts';
import { transitionsIn } from './transitions.ts';

/** The bill of a path through the system. */
export type PricedPath = {
  readonly name: string;
  readonly charges: readonly Charge[];
  /** Transitions of the real histories, with as many polls as on AWS, and without polls. */
  readonly transitions: { readonly measured: string; readonly expected: number };
};

/** A month of forged deliveries, as many as the throttle lets through. */
export type Flood = {
  readonly perSecond: number;
  readonly deliveries: number;
  readonly charges: readonly Charge[];
};

export type Bill = {
  /** The happy one first. */
  readonly paths: readonly PricedPath[];
  readonly coldStarts: ReadonlyMap<string, ColdStart>;
  readonly flood: Flood;
  readonly durations: ReturnType<typeof durationsOf>;
  /** The largest item of each table on the happy path, in bytes. */
  readonly largest: ReadonlyMap<string, number>;
};

const knownOf = ({ all, logs, outputs }: Measured, facts: Facts): Known => {
  const tables = deployedTables(facts.tables, outputs);
  return { facts, logs, tables, units: unitsOf(all, tables, asOnAws) };
};

const pollsOf = (facts: Facts, firstSeconds: number, lastsSeconds: number): Polls => {
  const polls = expectedPolls(facts.machine.poll, {
    firstSeconds,
    taskSeconds: lastsSeconds,
    pollSeconds: providerAnswerMs / 1_000,
  });
  return { first: Math.min(1, polls), further: Math.max(0, polls - 1) };
};

const largestItems = (
  { samples: { happy } }: Measured,
  { units, tables }: Known,
): ReadonlyMap<string, number> => {
  const largest = new Map<string, number>();
  for (const call of happy.flatMap(({ entries }) => entries).flatMap(({ calls }) => calls)) {
    const table = tables.get(String(call.asked?.TableName));
    if (table === undefined) continue;
    largest.set(table.name, Math.max(largest.get(table.name) ?? 0, units.get(call)?.bytes ?? 0));
  }
  return largest;
};

const MONTH_MINUTES = 30 * 1_440;

const floodOf = (forged: readonly Entry[], known: Known): Flood => {
  const cpuMs = median(forged.map((entry) => entry.cpuMs));
  const charges = forged.flatMap((entry) =>
    invocationCharges(entry, cpuMs, known).map((item) => ({ ...item, where: 'receive-webhook' })),
  );
  const perSecond = known.facts.webhookRateLimit;
  return {
    perSecond,
    deliveries: perSecond * MONTH_MINUTES * 60,
    charges: merge(times(charges, 1 / forged.length)),
  };
};

/** The bill of the measured run, by the template and the prices. */
export const billOf = (measured: Measured, facts: Facts): Bill => {
  const known = knownOf(measured, facts);
  const measuredPaths = { ...measured.samples, consent: withTaskTokens(measured.samples.consent) };
  const coldStarts = coldStartsOf(measured.all, known);
  const { webhookWaitSeconds } = facts.machine;
  const priced = (name: string, path: Path, polls: Polls): PricedPath => {
    const counted = measuredPaths[path].map(({ history }) => transitionsIn(history));
    const entered = [...new Set(counted.map((one) => one.entered))].join(' or ');
    const retries = [...new Set(counted.map((one) => one.retries))].join(' or ');
    const warm = pathCharges(measuredPaths[path], polls, known);
    const charges = [...warm, ...coldStartCharges(warm, coldStarts, known)];
    const expected = charges
      .filter(({ price }) => price === 'transition')
      .reduce((sum, { quantity }) => sum + quantity, 0);
    return { name, charges, transitions: { measured: `${entered} + ${retries}`, expected } };
  };
  const happy = priced('happy', 'happy', { first: 0, further: 0 });
  const polled = priced('polled', 'polled', pollsOf(facts, webhookWaitSeconds, taskSeconds));
  const long = priced(
    `polled, ${longTaskSeconds / 60} min`,
    'polled',
    pollsOf(facts, webhookWaitSeconds, longTaskSeconds),
  );
  const byQueue = pollsByQueue(facts.machine.poll, taskSeconds);
  const consent = priced('consent', 'consent', {
    first: Math.min(1, byQueue),
    further: Math.max(0, byQueue - 1),
  });
  return {
    paths: [happy, polled, long, consent],
    coldStarts,
    flood: floodOf(measured.forged, known),
    durations: durationsOf(measuredPaths.happy, known),
    largest: largestItems(measured, known),
  };
};
