import { prices, readOn } from '../../../tools/acceptance/checks/prices.ts';
import {
  awsAnswerMs,
  coldStartShare,
  cpuRatio,
  providerAnswerMs,
  targetDollars,
  taskSeconds,
  taskTokenCharacters,
} from '../assumptions.ts';
import { figure } from '../figure.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Bill } from './bill/bill.ts';
import { type Charge, dollarsOf, totalOf } from './bill/charge.ts';
import { COLD_START } from './bill/cold-starts.ts';
import { startAndEnd } from './bill/transitions.ts';
import type { Facts } from './read-template.ts';

type Column = { readonly name: string; readonly charges: readonly Charge[] };

const money = (dollars: number): string => dollars.toFixed(2);

/** A row for each item of the bill that is not zero, by service. */
const lines: readonly (readonly [name: string, isIn: (charge: Charge) => boolean])[] = [
  ['Step Functions', ({ price }) => price === 'transition'],
  ['Lambda, requests', ({ price }) => price === 'invocation'],
  ['Lambda, duration', ({ price, what }) => price === 'armGigabyteSecond' && what !== COLD_START],
  ['Lambda, cold starts', ({ what }) => what === COLD_START],
  ['API Gateway', ({ price }) => price === 'httpRequest'],
  ['DynamoDB, writes', ({ price }) => price === 'writeUnit'],
  ['DynamoDB, reads', ({ price }) => price === 'readUnit'],
  ['KMS', ({ price }) => price === 'keyRequest'],
  ['S3', ({ price }) => price === 'put' || price === 'get'],
  ['Secrets Manager', ({ price }) => price === 'secretRead'],
  ['SQS and EventBridge', ({ price }) => price === 'queueRequest' || price === 'busEvent'],
  ['CloudWatch Logs', ({ price }) => price === 'logKilobyte' || price === 'matchedEvent'],
];

const byService = (columns: readonly Column[]): string => {
  const rows = lines.map(([name, isIn]) => [
    name,
    ...columns.map(({ charges }) => money(totalOf(charges.filter(isIn)))),
  ]);
  const edges = startAndEnd * prices.transition.perMillion;
  return markdownTable([
    ['$ per million', ...columns.map(({ name }) => name)],
    ...rows.filter(([, ...cells]) => cells.some((cell) => cell !== '0.00')),
    ['total', ...columns.map(({ charges }) => money(totalOf(charges)))],
    ['with Start and End', ...columns.map(({ charges }) => money(totalOf(charges) + edges))],
  ]);
};

const sum = (charges: readonly Charge[], isIn: (charge: Charge) => boolean): string =>
  figure(charges.filter(isIn).reduce((total, { quantity }) => total + quantity, 0));

/** The counts, without prices. */
const counted = (columns: readonly Column[]): string =>
  markdownTable([
    ['per extraction', ...columns.map(({ name }) => name)],
    ...(
      [
        ['state transitions', 'transition'],
        ['invocations', 'invocation'],
        ['GB-seconds, arm64', 'armGigabyteSecond'],
        ['API requests', 'httpRequest'],
        ['write units', 'writeUnit'],
        ['  of these the index', 'index'],
        ['read units', 'readUnit'],
        ['KMS requests', 'keyRequest'],
        ['S3 PUT', 'put'],
        ['S3 GET', 'get'],
        ['reads of secrets', 'secretRead'],
        ['KB of logs', 'logKilobyte'],
      ] as const
    ).map(([name, price]) => [
      name,
      ...columns.map(({ charges }) =>
        price === 'index'
          ? sum(charges, ({ what }) => what.endsWith('its index'))
          : sum(charges, (charge) => charge.price === price),
      ),
    ]),
  ]);

/** The costs by part of the system, highest first, with their items. */
const breakdown = (charges: readonly Charge[]): string => {
  const places = [...new Set(charges.map(({ where }) => where))]
    .map((where) => charges.filter((charge) => charge.where === where))
    .sort((one, other) => totalOf(other) - totalOf(one));
  return markdownTable([
    ['where', '$ per million', 'quantity', 'unit'],
    ...places.flatMap((ofPlace) => [
      [ofPlace[0]?.where ?? '', money(totalOf(ofPlace))],
      ...[...ofPlace]
        .sort((one, other) => dollarsOf(other) - dollarsOf(one))
        .map((charge) => [
          `  ${charge.what}`,
          money(dollarsOf(charge)),
          String(Number(charge.quantity.toFixed(4))),
          prices[charge.price].unit.replace(/[,(:].*$/, '').trim(),
        ]),
    ]),
  ]);
};

/** The whole result, as text. */
export const report = (bill: Bill, { machine }: Facts): string => {
  const [happy] = bill.paths;
  const { flood } = bill;
  const aMonthOfFlood = (perMillion: number): number => (perMillion * flood.deliveries) / 1_000_000;
  const total = totalOf(happy?.charges ?? []);
  return [
    `Prices: us-east-1, list, first tiers, no free tier, as read on ${readOn} (tools/acceptance/checks/prices.ts).`,
    `Assumed (test/bench/assumptions.ts): tasks of ${taskSeconds} s; ${providerAnswerMs} ms for each answer of the provider, ${awsAnswerMs} ms for each of AWS;`,
    `a vCPU is ${cpuRatio} of this machine's cores; a callback token has ${taskTokenCharacters} characters; ${100 * coldStartShare} % of invocations start a process.`,
    '',
    '1. The paths, from the histories and the calls of this run',
    '',
    markdownTable([
      ['state transitions', ...bill.paths.map(({ name }) => name)],
      ['in this run: states + retries', ...bill.paths.map(({ transitions }) => transitions.measured)],
      [
        'on AWS, at the default settings',
        ...bill.paths.map(({ transitions }) => transitions.expected.toFixed(2)),
      ],
    ]),
    '',
    counted(bill.paths),
    '',
    byService(bill.paths),
    '',
    `A task takes ${taskSeconds} s unless the path says otherwise. "polled": every webhook is lost, the machine waits ${machine.webhookWaitSeconds} s and reads once. "polled, 20 min": the task outlasts the wait, and the machine polls.`,
    '"consent" has no webhook: Reconcile polls from the start. Polls are counted for the template\'s Retry (full jitter), each at the cost of one in this run, and by consent with a Task Token for each.',
    '',
    '2. Where the money goes, on the happy path',
    '',
    breakdown(happy?.charges ?? []),
    '',
    markdownTable([
      ['one invocation, warm', 'CPU ms, median', 'MB', 'billed ms'],
      ...bill.durations.map(({ where, cpuMs, memoryMB, billedMs }) => [
        where,
        cpuMs.toFixed(1),
        String(memoryMB),
        String(billedMs),
      ]),
    ]),
    '',
    'A cold start has its init phase besides, at about two vCPUs whatever the memory, and a longer first invocation:',
    '',
    markdownTable([
      ['one cold start', 'init ms', 'first invocation, billed ms', 'secrets read'],
      ...[...bill.coldStarts].map(([name, { initMs, firstMs, secretReads }]) => [
        name,
        initMs.toFixed(0),
        firstMs.toFixed(0),
        String(secretReads),
      ]),
    ]),
    '',
    ...[...bill.largest].map(([name, bytes]) => `Largest item of ${name}: ${bytes} bytes.`),
    '',
    '3. Where it goes, by consent',
    '',
    breakdown(bill.paths.at(-1)?.charges ?? []),
    '',
    `4. A flood of forged deliveries, at the throttle of the webhook: ${flood.perSecond} a second, ${figure(flood.deliveries / 1e6)} million in 30 days`,
    '',
    markdownTable([
      ['', '$ per million', '$ a month'],
      ...lines
        .map(([name, isIn]) => [name, totalOf(flood.charges.filter(isIn))] as const)
        .filter(([, dollars]) => dollars > 0)
        .map(([name, dollars]) => [name, money(dollars), money(aMonthOfFlood(dollars))]),
      ['total', money(totalOf(flood.charges)), money(aMonthOfFlood(totalOf(flood.charges)))],
    ]),
    '',
    'Not included: storage of logs, traffic, reads of logs, KMS requests of tables, bucket and logs, logins',
    '(one an hour for each process), what CloudTrail and GuardDuty bill for each event, and retries.',
    '',
    `A request with a reference costs $${money(prices.writeUnit.perMillion)} more: one write unit, for its entry in the index \`reference\`.`,
    `Happy path: $${money(total)} per million extractions; target ≤ ${targetDollars}. By consent: $${money(totalOf(bill.paths.at(-1)?.charges ?? []))}; target ≤ 125.`,
  ].join('\n');
};
