import { longTaskSeconds, providerAnswerMs, signingKeyMinutes, taskSeconds } from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { asOnAws } from '../../units/as-on-aws.ts';
import { unitsOf } from '../../units/dynamo-units.ts';
import { deployedTables } from '../../units/tables.ts';
import type { Facts } from '../facts.ts';
import { monthly, prices } from '../prices.ts';
import type { Measured, Path } from '../run/sample.ts';
import { type Charge, totalOf } from './charge.ts';
import { collectingOutside, type Design, fiveStates, naivePolling } from './designs.ts';
import { expectedPolls } from './expected-polls.ts';
import { invocationCharges, type Known } from './invocation-charges.ts';
import { durationsOf, type Polls, pathCharges } from './path-charges.ts';
import { transitionsIn } from './transitions.ts';

/** The bill of a path through the system. */
export type PricedPath = {
  readonly name: string;
  readonly charges: readonly Charge[];
  /** Transitions of the real histories, with as many polls as on AWS, and without polls. */
  readonly transitions: { readonly measured: string; readonly expected: number };
};

export type MonthlyCost = { readonly what: string; readonly dollars: number };

export type Bill = {
  /** The happy one first. */
  readonly paths: readonly PricedPath[];
  readonly designs: readonly Design[];
  readonly durations: ReturnType<typeof durationsOf>;
  /** The largest item of each table on the happy path, in bytes. */
  readonly largest: ReadonlyMap<string, number>;
  /** Secrets that a new process reads, by function. */
  readonly secretReads: ReadonlyMap<string, number>;
  readonly months: readonly MonthlyCost[];
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

/** The secrets that the first process of each function read. Every process reads them, and again when they expire. */
const secretReadsOf = (all: readonly Entry[]): ReadonlyMap<string, number> => {
  const first = new Map<string, number>();
  for (const { function: name, ordinal, calls } of all) {
    const reads = calls.filter(({ service }) => service === 'secretsmanager').length;
    if (ordinal === 1 && reads > 0 && !first.has(name)) first.set(name, reads);
  }
  return first;
};

const MONTH_MINUTES = 30 * 1_440;

const monthsOf = ({ sweeps, all }: Measured, known: Known): readonly MonthlyCost[] => {
  const { facts } = known;
  const sweep =
    totalOf(
      sweeps.flatMap((entry) =>
        invocationCharges(entry, entry.cpuMs, known).map((item) => ({ ...item, where: 'sweep' })),
      ),
    ) / sweeps.length;
  const keyReads = secretReadsOf(all).get('receive-webhook') ?? 0;
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
    { what: `KMS, ${facts.keys} keys`, dollars: facts.keys * monthly.key.dollars },
  ];
};

/** The bill of the measured run, by the template and the prices. */
export const billOf = (measured: Measured, facts: Facts): Bill => {
  const known = knownOf(measured, facts);
  const measuredPaths = measured.samples;
  const { webhookWaitSeconds } = facts.machine;
  const priced = (name: string, path: Path, polls: Polls): PricedPath => {
    const counted = measuredPaths[path].map(({ history }) => transitionsIn(history));
    const entered = [...new Set(counted.map((one) => one.entered))].join(' or ');
    const retries = [...new Set(counted.map((one) => one.retries))].join(' or ');
    const charges = pathCharges(measuredPaths[path], polls, known);
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
  const consent = priced('consent', 'consent', pollsOf(facts, 0, taskSeconds));
  return {
    paths: [happy, polled, long, consent],
    designs: [
      naivePolling(happy.charges, long.charges),
      fiveStates(happy.charges),
      { name: 'ours', charges: happy.charges },
      collectingOutside(happy.charges, facts),
    ],
    durations: durationsOf(measuredPaths.happy, known),
    largest: largestItems(measured, known),
    secretReads: secretReadsOf(measured.all),
    months: monthsOf(measured, known),
  };
};
