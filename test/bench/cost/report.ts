import { prices, readOn } from '../../../tools/acceptance/checks/prices.ts';
import {
  awsAnswerMs,
  coldStartShare,
  consentTargetDollars,
  cpuRatio,
  providerAnswerMs,
  resultsBytes,
  targetDollars,
  taskSeconds,
  taskTokenCharacters,
} from '../assumptions.ts';
import { figure, markdownTable } from '../markdown-table.ts';
import type { Bill, PricedPath } from './bill/bill.ts';
import { type Charge, dollarsOf, totalOf } from './bill/charge.ts';
import { COLD_START } from './bill/cold-starts.ts';
import { START_AND_END } from './bill/path-charges.ts';
import type { Facts } from './template-facts.ts';

type IsIn = (charge: Charge) => boolean;

const money = (dollars: number): string => dollars.toFixed(2);

/** A row for each item of the bill that is not zero, by service. */
const services: readonly (readonly [name: string, isIn: IsIn])[] = [
  ['Step Functions', ({ price, what }) => price === 'transition' && what !== START_AND_END],
  ['Step Functions, Start and End', ({ what }) => what === START_AND_END],
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
  ['CloudWatch Logs', ({ price }) => price === 'logKilobyte'],
  ['Storage', ({ where }) => where === 'storage'],
  ['Traffic', ({ where }) => where === 'traffic'],
];

const byService = (paths: readonly PricedPath[]): string => {
  const rows = services.map(([name, isIn]) => [
    name,
    ...paths.map(({ charges }) => money(totalOf(charges.filter(isIn)))),
  ]);
  return markdownTable([
    ['$ per million', ...paths.map(({ name }) => name)],
    ...rows.filter(([, ...cells]) => cells.some((cell) => cell !== '0.00')),
    ['total', ...paths.map(({ charges }) => money(totalOf(charges)))],
  ]);
};

/** A row for each count, without prices. */
const counts: readonly (readonly [name: string, isIn: IsIn])[] = [
  ['state transitions', ({ price, what }) => price === 'transition' && what !== START_AND_END],
  ['  besides, Start and End', ({ what }) => what === START_AND_END],
  ['invocations', ({ price }) => price === 'invocation'],
  ['GB-seconds, arm64', ({ price }) => price === 'armGigabyteSecond'],
  ['API requests', ({ price }) => price === 'httpRequest'],
  ['write units', ({ price }) => price === 'writeUnit'],
  ['  of these the index', ({ what }) => what.endsWith('its index')],
  ['read units', ({ price }) => price === 'readUnit'],
  ['KMS requests', ({ price }) => price === 'keyRequest'],
  ['S3 PUT', ({ price }) => price === 'put'],
  ['S3 GET', ({ price }) => price === 'get'],
  ['reads of secrets', ({ price }) => price === 'secretRead'],
  ['KB of logs', ({ price }) => price === 'logKilobyte'],
];

const counted = (paths: readonly PricedPath[]): string =>
  markdownTable([
    ['per extraction', ...paths.map(({ name }) => name)],
    ...counts.map(([name, isIn]) => [
      name,
      ...paths.map(({ charges }) =>
        figure(charges.filter(isIn).reduce((total, { quantity }) => total + quantity, 0)),
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
          String(Number(charge.quantity.toPrecision(4))),
          prices[charge.price].unit.replace(/[,(:].*$/, '').trim(),
        ]),
    ]),
  ]);
};

/** The whole result, as text. */
export const report = (bill: Bill, { machine }: Facts): string => {
  const { happy, consent, paths, flood } = bill;
  const aMonthOfFlood = (perMillion: number): string => money((perMillion * flood.deliveries) / 1_000_000);
  return [
    `Prices: us-east-1, list, first tiers, no free tier, as read on ${readOn} (tools/acceptance/checks/prices.ts).`,
    `Assumed (test/bench/assumptions.ts): tasks of ${taskSeconds} s; ${providerAnswerMs} ms for each answer of the provider, ${awsAnswerMs} ms for each of AWS;`,
    `a vCPU is ${cpuRatio} of this machine's cores; a callback token has ${taskTokenCharacters} characters; results have ${resultsBytes} bytes; ${100 * coldStartShare} % of invocations start a process.`,
    '',
    '1. The paths, from the histories and the calls of this run, on AWS at the default settings',
    '',
    counted(paths),
    '',
    byService(paths),
    '',
    `A task takes ${taskSeconds} s unless the path says otherwise. "polled": every webhook is lost, the machine waits ${machine.webhookWaitSeconds} s and reads once. "polled, 20 min": the task outlasts the wait, and the machine polls.`,
    '"consent" has no webhook: Reconcile polls from the start. Polls are counted for the template\'s Retry (full jitter), each at the cost of one in this run, and by consent with a Task Token for each.',
    '',
    '2. Where the money goes, on the happy path',
    '',
    breakdown(happy.charges),
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
    '3. Where it goes, by consent',
    '',
    breakdown(consent.charges),
    '',
    `4. A flood of forged deliveries, at the throttle of the webhook: ${flood.perSecond} a second, ${figure(flood.deliveries / 1e6)} million in 30 days`,
    '',
    markdownTable([
      ['', '$ per million', '$ a month'],
      ...[...services, ['total', () => true] as const]
        .map(([name, isIn]) => [name, totalOf(flood.charges.filter(isIn))] as const)
        .filter(([, dollars]) => dollars > 0)
        .map(([name, dollars]) => [name, money(dollars), aMonthOfFlood(dollars)]),
    ]),
    '',
    'Not included: reads of logs, logins (one an hour for each process), a NAT gateway where the construct gets a network, what',
    'CloudTrail and GuardDuty bill for each event, retries, and the fixed costs of a stage (docs/performance.md).',
    '',
    `A request with a reference costs $${money(prices.writeUnit.perMillion)} more: one write unit, for its entry in the index \`reference\`.`,
    `Happy path: $${money(totalOf(happy.charges))} per million extractions, with everything; target ≤ ${targetDollars}. By consent: $${money(totalOf(consent.charges))}; target ≤ ${consentTargetDollars}.`,
    `It is $${money(totalOf(happy.charges.filter(({ what }) => what === START_AND_END)))} less if AWS does not bill Start and End.`,
  ].join('\n');
};
