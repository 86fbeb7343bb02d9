import { monthly, prices } from '../../../../tools/acceptance/checks/prices.ts';
import {
  awsAnswerMs,
  idlePollers,
  longTaskSeconds,
  outcomeRecords,
  providerAnswerMs,
  resultBytes,
  signingKeyMinutes,
  streamReads,
  targetDollars,
  taskSeconds,
} from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import { asOnAws } from '../../units/as-on-aws.ts';
import { unitsOf } from '../../units/dynamo-units.ts';
import { deployedTables } from '../../units/tables.ts';
import type { Facts } from '../read-template.ts';
import type { Measured, Path } from '../run/sample.ts';
import { type Charge, merge, times, totalOf } from './charge.ts';
import { type ColdStart, coldStartCharges, coldStartsOf } from './cold-starts.ts';
import { type Design, fiveStates, naivePolling } from './designs.ts';
import { expectedPolls, pollsByQueue } from './expected-polls.ts';
import { invocationCharges, type Known } from './invocation-charges.ts';
import { durationsOf, gigabyteSecondsAt, type Polls, pathCharges } from './path-charges.ts';
import { withTaskTokens } from './task-tokens.ts';
import { transitionsIn } from './transitions.ts';

/** The bill of a path through the system. */
export type PricedPath = {
  readonly name: string;
  readonly charges: readonly Charge[];
  /** Transitions of the real histories, with as many polls as on AWS, and without polls. */
  readonly transitions: { readonly measured: string; readonly expected: number };
};

export type MonthlyCost = { readonly what: string; readonly dollars: number };

/** A month of forged deliveries, as many as the throttle lets through. */
export type Flood = {
  readonly perSecond: number;
  readonly deliveries: number;
  readonly charges: readonly Charge[];
};

export type Bill = {
  /** The happy one first. */
  readonly paths: readonly PricedPath[];
  readonly designs: readonly Design[];
  readonly coldStarts: ReadonlyMap<string, ColdStart>;
  readonly flood: Flood;
  readonly durations: ReturnType<typeof durationsOf>;
  /** The largest item of each table on the happy path, in bytes. */
  readonly largest: ReadonlyMap<string, number>;
  readonly months: readonly MonthlyCost[];
  /** The mean answer of AWS at which the happy path passes its target, in milliseconds. */
  readonly mostAwsAnswerMs: number;
  /** What a million extractions cost besides their path: storage, and the fan-out where it is switched on. */
  readonly besides: readonly MonthlyCost[];
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

const monthlyRequests = (perSecond: number, perMillion: number): number =>
  (perSecond * MONTH_MINUTES * 60 * perMillion) / 1_000_000;

/**
 * The mean answer of AWS at which a sum reaches the target. Every billed duration is linear in it, but for its whole milliseconds, so
 * 100 ms more show the slope.
 */
const mostAwsAnswerMsOf = (total: number, gigabyteSeconds: (awsMs: number) => number): number => {
  const more = 100;
  const perMs = (gigabyteSeconds(awsAnswerMs + more) - gigabyteSeconds(awsAnswerMs)) / more;
  return awsAnswerMs + (targetDollars - total) / (perMs * prices.armGigabyteSecond.perMillion);
};

/** A thousand bytes of each are a GB of a million extractions. The item is the largest that was written. */
const besidesOf = (largest: ReadonlyMap<string, number>, { days }: Facts): readonly MonthlyCost[] => {
  const gigabyteMonths = (bytes: number, kept: number): number => (bytes / 1_000) * (kept / 30);
  const record = gigabyteMonths(largest.get('Extractions') ?? 0, days.record);
  const row = gigabyteMonths(largest.get('Tasks') ?? 0, 30);
  const result = gigabyteMonths(resultBytes, days.results);
  return [
    {
      what: `storage: records for ${days.record} days with recovery points, rows of Tasks for 30, results of ${resultBytes} bytes for ${days.results}`,
      dollars:
        record * (monthly.tableGigabyte.dollars + monthly.recoveryGigabyte.dollars) +
        row * monthly.tableGigabyte.dollars +
        result * monthly.objectGigabyte.dollars,
    },
    {
      what: `fanOutToEventBus: ${outcomeRecords} records through the pipe and onto the bus`,
      dollars: outcomeRecords * (prices.pipeRequest.perMillion + prices.busEvent.perMillion),
    },
  ];
};

const monthsOf = (
  { sweeps }: Measured,
  coldStarts: ReadonlyMap<string, ColdStart>,
  known: Known,
): readonly MonthlyCost[] => {
  const { facts } = known;
  const sweep =
    totalOf(
      sweeps.flatMap((entry) =>
        invocationCharges(entry, entry.cpuMs, known).map((item) => ({ ...item, where: 'sweep' })),
      ),
    ) / sweeps.length;
  const keyReads = coldStarts.get('receive-webhook')?.secretReads ?? 0;
  return [
    {
      what: `sweeps, ${facts.sweepsPerMonth} that find nothing due`,
      dollars: (sweep * facts.sweepsPerMonth) / 1_000_000,
    },
    { what: `Secrets Manager, ${facts.secrets} secrets`, dollars: facts.secrets * monthly.secret.dollars },
    {
      what: `Secrets Manager, ${keyReads} reads every ${signingKeyMinutes} minutes by each process of the webhook that is always busy`,
      dollars: (keyReads * (MONTH_MINUTES / signingKeyMinutes) * prices.secretRead.perMillion) / 1_000_000,
    },
    {
      what: `SQS, empty polls of the reconcile queue by ${idlePollers.count} pollers of Lambda, each for ${idlePollers.everySeconds} s`,
      dollars: monthlyRequests(idlePollers.count / idlePollers.everySeconds, prices.queueRequest.perMillion),
    },
    {
      what: `DynamoDB, reads of ${streamReads.shards} shards of the stream by the pipe of fanOutToEventBus, if AWS bills them`,
      dollars: monthlyRequests(streamReads.shards * streamReads.perSecond, prices.streamRead.perMillion),
    },
    ...[0, 1, 2].map((rotations) => ({
      what: `KMS, ${facts.keys} keys${rotations === 0 ? '' : ` instead, after ${rotations} yearly rotation${rotations === 1 ? '' : 's'}`}`,
      dollars: facts.keys * (1 + rotations) * monthly.key.dollars,
    })),
  ];
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
  const largest = largestItems(measured, known);
  return {
    paths: [happy, polled, long, consent],
    designs: [
      naivePolling(happy.charges, long.charges),
      fiveStates(happy.charges),
      { name: 'ours', charges: happy.charges },
    ],
    coldStarts,
    flood: floodOf(measured.forged, known),
    durations: durationsOf(measuredPaths.happy, known),
    largest,
    mostAwsAnswerMs: mostAwsAnswerMsOf(totalOf(happy.charges), (awsMs) =>
      gigabyteSecondsAt(measuredPaths.happy, awsMs, known),
    ),
    besides: besidesOf(largest, facts),
    months: monthsOf(measured, coldStarts, known),
  };
};
