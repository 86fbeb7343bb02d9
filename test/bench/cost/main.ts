/**
 * `npm run cost`: the cost of a million extractions at list prices. It deploys the app to an emulator, runs real
 * extractions, counts every call that AWS bills, and prices them at the default settings.
 */
import { readConfig } from '../../../infra/settings/config.ts';
import { describePrices } from '../../../tools/acceptance/checks/prices.ts';
import { runUntilStopped } from '../../support/programs/run-until-stopped.ts';
import {
  awsAnswerMs,
  busTargetDollars,
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
import { startMeasuredSystem } from '../measured-system.ts';
import { billOf, dollarsOf, type Item } from './bill.ts';
import { measure, settings } from './measure.ts';

const counts: readonly (readonly [name: string, ...items: Item[]])[] = [
  ['state transitions', 'transition'],
  ['invocations', 'invocation'],
  ['GB-seconds, arm64', 'armGigabyteSecond', 'coldStart'],
  ['write units', 'writeUnit'],
  ['read units', 'readUnit'],
];

const services: readonly (readonly [name: string, ...items: Item[]])[] = [
  ['Step Functions', 'transition'],
  ['Step Functions, Start and End', 'startAndEnd'],
  ['Lambda, requests', 'invocation'],
  ['Lambda, duration', 'armGigabyteSecond'],
  ['Lambda, cold starts', 'coldStart'],
  ['API Gateway', 'httpRequest'],
  ['DynamoDB, writes', 'writeUnit'],
  ['DynamoDB, reads', 'readUnit'],
  ['KMS, also behind secrets', 'keyRequest'],
  ['S3', 'put', 'get'],
  ['Secrets Manager', 'secretRead'],
  ['SQS and EventBridge', 'queueRequest', 'busEvent'],
  ['CloudWatch Logs', 'logKilobyte'],
  ['Storage', 'tableGigabyteMonth', 'backupGigabyteMonth', 'bucketGigabyteMonth', 'logGigabyteMonth'],
  ['Traffic', 'egressGigabyte'],
];

await runUntilStopped(async (run) => {
  const config = readConfig({ stage: 'prod', providerBaseUrl: 'https://provider.example' });
  const measured = await measure(await startMeasuredSystem(run, settings));
  const bill = billOf(measured, config);
  const paths = [bill.happy, bill.polled, bill.long, bill.consent];
  const money = (dollars: number): string => dollars.toFixed(2);
  const table = (
    head: string,
    rows: typeof counts,
    cell: (path: (typeof paths)[number], items: Item[]) => string,
  ) =>
    markdownTable([
      [head, ...paths.map(({ name }) => name)],
      ...rows.map(([name, ...items]) => [name, ...paths.map((path) => cell(path, items))]),
    ]);
  const [happy, consent, forged] = [bill.happy, bill.consent]
    .map(({ quantities }) => dollarsOf(quantities))
    .concat(dollarsOf(bill.forged));
  const { extractions, events, invocations } = measured.bus;
  const each = (count: number): string => figure(count / extractions);
  const million = config.webhookRateLimit * 30 * 0.0864;
  console.log(
    [
      `Prices: us-east-1, list, first tiers, no free tier. ${describePrices()} (tools/acceptance/checks/prices.ts has when).`,
      `Assumed (test/bench/assumptions.ts): tasks of ${taskSeconds} s; ${providerAnswerMs} ms for each answer of the provider, ${awsAnswerMs} ms for each of AWS;`,
      `a vCPU is ${cpuRatio} of this machine's cores; a callback token has ${taskTokenCharacters} characters; results have ${resultsBytes} bytes; ${100 * coldStartShare} % of invocations start a process.`,
      '',
      table('per extraction', counts, ({ quantities }, items) =>
        figure(items.reduce((sum, item) => sum + (quantities[item] ?? 0), 0)),
      ),
      '',
      table(
        '$ per million',
        [...services, ['total', ...services.flatMap(([, ...items]) => items)]],
        ({ quantities }, items) => money(dollarsOf(quantities, items)),
      ),
      '',
      `Happy path: $${money(happy ?? 0)} per million extractions, with everything; target ≤ ${targetDollars}. By consent: $${money(consent ?? 0)}; target ≤ ${consentTargetDollars}.`,
      `With publishEvents: $${money(dollarsOf(bill.bus))} more, at ${each(events)} events and ${each(invocations.length)} invocations each; target ≤ ${busTargetDollars}.`,
      `Forged deliveries: $${money(forged ?? 0)} a million, $${money((forged ?? 0) * million)} in 30 days at the throttle of the webhook, ${config.webhookRateLimit} a second.`,
    ].join('\n'),
  );
});
