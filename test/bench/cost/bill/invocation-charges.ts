import { reconcileCauses } from '../../../../lib/extraction/reconcile-message.ts';
import type { PriceName } from '../../../../tools/acceptance/checks/prices.ts';
import { awsAnswerMs, providerAnswerMs } from '../../assumptions.ts';
import type { Call, Entry } from '../../ledger/entry.ts';
import { nameOfCall } from '../../ledger/name-of-call.ts';
import type { Table } from '../../units/capacity.ts';
import { CannotBeCounted, type Units } from '../../units/dynamo-units.ts';
import type { Facts } from '../read-template.ts';
import type { Logged } from '../run/read-logs.ts';
import { billedMs, waitedMs } from './billed-duration.ts';
import type { Charge } from './charge.ts';
import { accessLogBytes, platformLogBytes, thrownErrorBytes } from './log-bytes.ts';

/** The data of a run that prices depend on. */
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

/** The charge of log bytes. A GB is 10^9 bytes here. If AWS bills 2^30, it is 7% less. */
export const logCharge = (what: string, bytes: number): Item => ({
  what,
  price: 'logKilobyte',
  quantity: bytes / 1_000,
});

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

/** The charge of a request, or none if it is free. Throws if its price is unknown. */
const requestCharges = (call: Call, known: Known): readonly Item[] => {
  const { service, operation } = call;
  const one = (price: PriceName): Item => ({ what: nameOfCall(call, known.tables), price, quantity: 1 });
  switch (service) {
    case 'provider':
    // SendTask*, StartExecution: Step Functions bills transitions only.
    case 'states':
    // The invoked function is billed by its own entry.
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
    case 's3':
      return [one(operation === 'GET' ? 'get' : 'put')];
    default:
      throw new CannotBeCounted(`${service} ${operation} has no price here.`);
  }
};

const isCause = (trigger: string | undefined): boolean => reconcileCauses.some((cause) => cause === trigger);

/** What the billed duration of an invocation depends on, besides its calls. */
export type Runs = {
  /** The median of invocations of its kind, because a busy machine makes one vary. */
  readonly cpuMs: number;
  readonly memoryMB: number;
};

/** The billed milliseconds. */
export const billedMsOf = ({ calls }: Entry, { cpuMs, memoryMB }: Runs): number => {
  const waits = calls.map(({ service, startedAt, endedAt }) => ({
    ...{ startedAt, endedAt },
    assumedMs: service === 'provider' ? providerAnswerMs : awsAnswerMs,
  }));
  return billedMs(cpuMs, memoryMB, waitedMs(waits));
};

/** Everything that AWS bills for one warm invocation. */
export const invocationCharges = (entry: Entry, cpuMs: number, known: Known): readonly Item[] => {
  const { facts, logs } = known;
  const memoryMB = facts.memoryMB[entry.function];
  if (memoryMB === undefined) throw new CannotBeCounted(`The template has no function ${entry.function}.`);
  const logged = logs.get(entry.requestId);
  if (logged === undefined) throw new CannotBeCounted(`Nothing is known of the log of ${entry.requestId}.`);
  const duration = billedMsOf(entry, { cpuMs, memoryMB });
  const ofFunction: readonly Item[] = [
    { what: 'request', price: 'invocation', quantity: 1 },
    {
      what: `duration at ${memoryMB} MB`,
      price: 'armGigabyteSecond',
      quantity: (memoryMB / KB) * (duration / 1_000),
    },
    logCharge('its own log', logged.own),
    logCharge("the runtime's log of an error", thrownErrorBytes(entry.failed, logged.stack)),
    logCharge("the platform's log", platformLogBytes(duration, memoryMB)),
  ];
  const { routeKey } = entry;
  const ofApi: readonly Item[] =
    routeKey === undefined
      ? []
      : [
          {
            what: `API: ${routeKey}`,
            price: 'httpRequest',
            quantity: Math.max(1, Math.ceil(entry.bodyBytes / REQUEST_BYTES)),
          },
          logCharge(
            "the API's access log",
            accessLogBytes(facts.accessLogFormat, routeKey, facts.signedRoutes.includes(routeKey)),
          ),
        ];
  // Lambda receives the message, and deletes it. The sender pays for sending it.
  const ofQueue: readonly Item[] =
    entry.function === 'reconcile-extraction' && isCause(entry.trigger)
      ? [{ what: 'receive and delete the message', price: 'queueRequest', quantity: 2 }]
      : [];
  const ofCalls = entry.calls.flatMap((call) => requestCharges(call, known));
  return [...ofFunction, ...ofApi, ...ofQueue, ...ofCalls].filter(({ quantity }) => quantity > 0);
};
