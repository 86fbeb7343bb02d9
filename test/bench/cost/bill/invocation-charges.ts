import { reconcileCauses } from '../../../../lib/extraction/reconcile-message.ts';
import type { PriceName } from '../../../../tools/acceptance/checks/prices.ts';
import { type Call, type Entry, nameOfCall } from '../../ledger/entry.ts';
import type { Units } from '../../units/dynamo-units.ts';
import { CannotBeCounted } from '../../units/item-bytes.ts';
import type { Logged } from '../run/count-logged-bytes.ts';
import type { Facts } from '../template-facts.ts';
import { billedMs } from './billed-duration.ts';
import type { Charge } from './charge.ts';
import { accessLogBytes, platformLogBytes, thrownErrorBytes } from './log-bytes.ts';

/** The data of a run that prices depend on. */
export type Known = {
  readonly facts: Facts;
  readonly units: ReadonlyMap<Call, Units>;
  readonly logs: ReadonlyMap<string, Logged>;
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

const dynamoCharges = (call: Call, { units }: Known): readonly Item[] => {
  const counted = units.get(call);
  if (counted === undefined) throw new CannotBeCounted(`The units of ${call.operation} were not counted.`);
  const { table, write, index, read } = counted;
  const what = nameOfCall(call, table);
  return [
    { what, price: 'writeUnit', quantity: write },
    { what: `${what}, its index`, price: 'writeUnit', quantity: index },
    { what, price: 'readUnit', quantity: read },
  ];
};

/** Step Functions bills transitions and no SendTask* or StartExecution. An invoked function has its own entry. */
const freeServices: readonly string[] = ['provider', 'states', 'lambda'];

/** By the names that AWS signs for, or such a name and the method. */
const requestPrices: Readonly<Record<string, PriceName>> = {
  kms: 'keyRequest',
  secretsmanager: 'secretRead',
  sqs: 'queueRequest',
  events: 'busEvent',
  's3 GET': 'get',
  's3 PUT': 'put',
};

/** The charges of a request, or none if it is free. Throws if its price is unknown. */
const requestCharges = (call: Call, known: Known): readonly Item[] => {
  const { service, operation } = call;
  if (freeServices.includes(service)) return [];
  if (service === 'dynamodb') return dynamoCharges(call, known);
  const price = requestPrices[service] ?? requestPrices[`${service} ${operation}`];
  if (price === undefined) throw new CannotBeCounted(`${service} ${operation} has no price here.`);
  return [{ what: nameOfCall(call), price, quantity: 1 }];
};

const isMessage = ({ function: name, trigger }: Entry): boolean =>
  name === 'reconcile-extraction' && reconcileCauses.some((cause) => cause === trigger);

/** Throws CannotBeCounted where the template does not have the function. */
export const memoryOf = (name: string, { memoryMB }: Facts): number => {
  const found = memoryMB[name];
  if (found === undefined) throw new CannotBeCounted(`The template has no function ${name}.`);
  return found;
};

/**
 * Everything that AWS bills for one warm invocation. `cpuMs` is the median of invocations of its kind, because a busy machine
 * makes one vary.
 */
export const invocationCharges = (
  entry: Entry,
  cpuMs: number,
  known: Known,
  where = entry.function,
): readonly Charge[] => {
  const memoryMB = memoryOf(entry.function, known.facts);
  const logged = known.logs.get(entry.requestId);
  if (logged === undefined) throw new CannotBeCounted(`Nothing is known of the log of ${entry.requestId}.`);
  const duration = billedMs(entry.calls, cpuMs, memoryMB);
  const gigabyteSeconds = (memoryMB / KB) * (duration / 1_000);
  const ofFunction: readonly Item[] = [
    { what: 'request', price: 'invocation', quantity: 1 },
    { what: `duration at ${memoryMB} MB`, price: 'armGigabyteSecond', quantity: gigabyteSeconds },
    logCharge('its own log', logged.own),
    logCharge("the runtime's log of an error", thrownErrorBytes(entry.failed, logged.stack)),
    logCharge("the platform's log", platformLogBytes(duration, memoryMB)),
  ];
  const { routeKey, bodyBytes } = entry;
  const requests = Math.max(1, Math.ceil(bodyBytes / REQUEST_BYTES));
  const ofApi: readonly Item[] =
    routeKey === undefined
      ? []
      : [
          { what: `API: ${routeKey}`, price: 'httpRequest', quantity: requests },
          logCharge("the API's access log", accessLogBytes(known.facts, routeKey)),
        ];
  // Lambda receives the message, and deletes it. The sender pays for sending it.
  const ofQueue: readonly Item[] = isMessage(entry)
    ? [{ what: 'receive and delete the message', price: 'queueRequest', quantity: 2 }]
    : [];
  const ofCalls = entry.calls.flatMap((call) => requestCharges(call, known));
  return [...ofFunction, ...ofApi, ...ofQueue, ...ofCalls]
    .filter(({ quantity }) => quantity > 0)
    .map((item) => ({ where, ...item }));
};
