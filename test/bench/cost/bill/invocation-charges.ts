import { awsAnswerMs, providerAnswerMs } from '../../assumptions.ts';
import type { Call, Entry } from '../../ledger/entry.ts';
import { nameOfCall } from '../../ledger/name-of-call.ts';
import type { Table } from '../../units/capacity.ts';
import { CannotBeCounted, type Units } from '../../units/dynamo-units.ts';
import type { Facts, FunctionFacts, LogClass } from '../facts.ts';
import type { PriceName } from '../prices.ts';
import type { Logged } from '../run/read-logs.ts';
import { accessLogBytes } from './access-log-bytes.ts';
import { billedMs, waitedMs } from './billed-duration.ts';
import type { Charge } from './charge.ts';
import { platformLogBytes, thrownErrorBytes } from './platform-logs.ts';

/** What is known of a run when its invocations are priced. */
export type Known = {
  readonly facts: Facts;
  readonly units: ReadonlyMap<Call, Units>;
  readonly logs: ReadonlyMap<string, Logged>;
  /** By the names that requests call them. */
  readonly tables: ReadonlyMap<string, Table>;
};

type Item = Omit<Charge, 'where'>;

const KB = 1_024;
/** "HTTP APIs are metered in 512 KB increments." */
const REQUEST_BYTES = 512 * KB;

const logPrice: Readonly<Record<LogClass, PriceName>> = {
  STANDARD: 'logKilobyte',
  INFREQUENT_ACCESS: 'rareLogKilobyte',
};

/** A billed GB has 10^9 bytes here; AWS may mean 2^30, which would be 7% less. */
const kilobytes = (bytes: number): number => bytes / 1_000;

const dynamoCharges = (call: Call, { units, tables }: Known): readonly Item[] => {
  const counted = units.get(call);
  if (counted === undefined) {
    throw new CannotBeCounted(`Nobody has counted the units of ${call.operation}.`);
  }
  const { write, index, read } = counted;
  const what = nameOfCall(call, tables);
  const charges: readonly Item[] = [
    { what, price: 'writeUnit', quantity: write },
    { what: `${what}, its index`, price: 'writeUnit', quantity: index },
    { what, price: 'readUnit', quantity: read },
  ];
  return charges.filter(({ quantity }) => quantity > 0);
};

/** One request of a service, or nothing where it costs nothing. Throws where nobody has said what it costs. */
const requestCharges = (call: Call, known: Known): readonly Item[] => {
  const { service, operation } = call;
  const one = (price: PriceName): Item => ({ what: nameOfCall(call, known.tables), price, quantity: 1 });
  switch (service) {
    case 'provider':
    // "SendTask*, StartExecution, DescribeExecution": Step Functions bills transitions alone.
    case 'states':
    // What is invoked is billed where it runs.
    case 'lambda':
      return [];
    case 'dynamodb':
      return dynamoCharges(call, known);
    case 'kms':
      return [one('keyRequest')];
    case 'secretsmanager':
      return [one('secretRead')];
    case 'sqs':
      return [one('queueRequest')];
    case 'events':
      return [one('busEvent')];
    case 's3': {
      const charge = one(operation === 'GET' ? 'get' : 'put');
      return known.facts.isKeyAskedForEachObject ? [charge, one('keyRequest')] : [charge];
    }
    default:
      throw new CannotBeCounted(`${service} ${operation} has no price here.`);
  }
};

const functionOf = ({ facts }: Known, name: string): FunctionFacts => {
  const found = facts.functions[name];
  if (found === undefined) throw new CannotBeCounted(`The template has no function ${name}.`);
  return found;
};

/** What Lambda bills of it, in ms. `cpuMs` is that of its kind, not its own, which a busy machine makes vary. */
export const billedMsOf = ({ calls }: Entry, cpuMs: number, memoryMB: number): number => {
  const waits = calls.map(({ service, startedAt, endedAt }) => ({
    ...{ startedAt, endedAt },
    assumedMs: service === 'provider' ? providerAnswerMs : awsAnswerMs,
  }));
  return billedMs(cpuMs, memoryMB, waitedMs(waits));
};

/** Everything that AWS bills for one warm invocation. */
export const invocationCharges = (entry: Entry, cpuMs: number, known: Known): readonly Item[] => {
  const { facts, logs } = known;
  const settings = functionOf(known, entry.function);
  const { memoryMB, architecture, logClass } = settings;
  const duration = billedMsOf(entry, cpuMs, memoryMB);
  const logged = logs.get(entry.requestId);
  if (logged === undefined) throw new CannotBeCounted(`Nothing is known of the log of ${entry.requestId}.`);
  const { own, stack } = logged;
  const price = logPrice[logClass];
  const platform = platformLogBytes(settings, { billedMs: duration, memoryMB, failed: entry.failed });
  const ofFunction: readonly Item[] = [
    { what: 'request', price: 'invocation', quantity: 1 },
    {
      what: `duration at ${memoryMB} MB`,
      price: architecture === 'arm64' ? 'armGigabyteSecond' : 'x86GigabyteSecond',
      quantity: (memoryMB / KB) * (duration / 1_000),
    },
    { what: 'its own log', price, quantity: kilobytes(own.reduce((sum, bytes) => sum + bytes, 0)) },
    {
      what: "the runtime's log of an error",
      price,
      quantity: kilobytes(thrownErrorBytes(entry.failed, stack)),
    },
    { what: "the platform's log", price, quantity: kilobytes(platform) },
  ];
  const { routeKey } = entry;
  const { format, logClass: accessClass } = facts.accessLog;
  const ofApi: readonly Item[] =
    routeKey === undefined
      ? []
      : [
          {
            what: `API: ${routeKey}`,
            price: 'httpRequest',
            quantity: Math.max(1, Math.ceil(entry.bodyBytes / REQUEST_BYTES)),
          },
          {
            what: "the API's access log",
            price: logPrice[accessClass],
            quantity: kilobytes(
              accessLogBytes(format, { routeKey, isSigned: facts.signedRoutes.includes(routeKey) }),
            ),
          },
        ];
  const ofCalls = entry.calls.flatMap((call) => requestCharges(call, known));
  return [...ofFunction, ...ofApi, ...ofCalls].filter(({ quantity }) => quantity > 0);
};

/** Of the machine's own log. */
export const machineLogCharge = (bytes: number, { facts }: Known): Item => ({
  what: 'its own log',
  price: logPrice[facts.machine.logClass],
  quantity: kilobytes(bytes),
});
