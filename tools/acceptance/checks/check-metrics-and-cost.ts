import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { PublicExtraction } from '../../../lib/extraction/api/public-view.ts';
import { type MetricName, metricsNamespace } from '../../../lib/observability/metric-names.ts';
import { ownMetric, sumMetric } from '../../cli/aws/read-metric.ts';
import { fakeEntity } from '../settings.ts';
import { type AcceptContext, type Check, expectNone, passed, webhookArrives } from './check.ts';
import {
  compareCostWithEstimate,
  describeStartAndEnd,
  measuredCost,
  readEstimate,
} from './compare-cost-with-estimate.ts';
import { type Invocation, parseReport, readLogLines } from './lambda-report-lines.ts';
import { extract, isDone, readHistory, readUntil, requestOf } from './request-and-await.ts';

const invocationsOf = (lines: readonly string[]): readonly Invocation[] =>
  lines.flatMap((line) => parseReport(line) ?? []);

/** How much of its memory or of its time a function may use. */
const maxUsed = 0.9;

/** What a function used too much of, as a sentence, or undefined. */
export const headroomProblem = (
  { name, timeoutSeconds }: { readonly name: string; readonly timeoutSeconds: number },
  invocations: readonly Invocation[],
): string | undefined => {
  const most = (value: (one: Invocation) => number): number => Math.max(...invocations.map(value));
  const used = most(({ usedMB, memoryMB }) => usedMB / memoryMB);
  if (used > maxUsed) {
    return `${name} used ${most(({ usedMB }) => usedMB)} MB, ${Math.round(used * 100)} % of its memory.`;
  }
  const longest = most(({ durationMs }) => durationMs / 1_000);
  if (longest > maxUsed * timeoutSeconds) {
    return `${name} ran for ${longest} s of its timeout of ${timeoutSeconds} s.`;
  }
  return undefined;
};

/** One waits for a provider that hangs, which the checks make it do; the dispatcher ends by itself 10 s before its timeout. */
const mayTakeLong: readonly string[] = ['start-task', 'dispatch-starts'];

export const coldStarts: Check = {
  id: 'cold-starts',
  title: 'Every function ran, with memory and time to spare; the time of its cold starts',
  turn: 'last',
  seconds: () => 120,
  notOnEmulator: 'it starts functions otherwise than Lambda, and reports no memory',
  run: async ({ stack, client, startedAt, waitFor }) => {
    const figures: string[] = [];
    const problems: string[] = [];
    for (const one of await stack.functions()) {
      waitFor(`the log of ${one.name}`);
      const invocations = invocationsOf(await readLogLines(client, one.logGroup, startedAt));
      if (invocations.length === 0) {
        problems.push(`${one.name} logged no invocation in ${one.logGroup}.`);
        continue;
      }
      const timed = mayTakeLong.includes(one.name)
        ? { ...one, timeoutSeconds: Number.POSITIVE_INFINITY }
        : one;
      problems.push(...[headroomProblem(timed, invocations)].filter((problem) => problem !== undefined));
      const inits = invocations.flatMap(({ initMs }) => initMs ?? []);
      const range = inits.length === 0 ? 'none' : `${Math.min(...inits)} to ${Math.max(...inits)} ms`;
      figures.push(`${one.name} ${inits.length} of ${invocations.length} (${range})`);
    }
    expectNone(problems, figures.join(' '));
    return passed(`cold starts, with their Init Duration: ${figures.join('; ')}`);
  },
};

/** Metrics that the checks of the turn `together` always cause. Alarms watch most of them. */
const causedMetrics: readonly MetricName[] = [
  'SettledByWebhook',
  'SettledByStart',
  'SettledByReconcile',
  'Rejected',
  'Unconfirmed',
  'TimedOut',
  'Corrected',
  'ProviderBusy',
  'WebhookTooLarge',
  'WebhookSignatureMismatch',
  'StatusDisagreement',
  'Collected',
  'SweepStarted',
  'SweepFinished',
];

export const metricsArrive: Check = {
  id: 'metrics',
  title: 'CloudWatch has the metrics that the run caused, under the names that the alarms watch',
  turn: 'last',
  dependsOn: webhookArrives,
  // Metrics that come in logs have their values minutes later, as in `alarm-raised`.
  seconds: () => 600,
  notOnEmulator: 'it makes no metrics of logs',
  run: async ({ client, deployment, startedAt, now, until, waitFor }) => {
    const cloudWatch = new CloudWatchClient(client);
    // Values are kept by whole minutes.
    const since = new Date(startedAt.getTime() - 60_000);
    const caused = causedMetrics.map((name) => ownMetric(deployment.stage, name));
    // The metric filters of the alarms by bank make these of the lines of outcomes.
    const byBank = ['BankEnded', 'BankFailed'].map((name) => ({
      namespace: metricsNamespace(deployment.stage),
      name,
      dimensions: { Entity: fakeEntity },
    }));
    let missing = [...caused, ...byBank];
    const areThere = async (): Promise<boolean> => {
      const sums = await Promise.all(missing.map((one) => sumMetric(cloudWatch, one, since, now())));
      missing = missing.filter((_, index) => sums[index] === 0);
      waitFor(`values of ${missing.map(({ name }) => name).join(', ')}, which other checks cause`);
      return missing.length === 0;
    };
    await until('values of metrics', areThere, 10_000);
    return passed(`${caused.length + byBank.length} metrics of the stage have values, two of them by bank`);
  },
};

/** The billed transitions of an extraction's execution: each state that was entered, and each retry of a task. */
const transitionsOf = async (context: AcceptContext, extractionId: string): Promise<number> => {
  const types = (await readHistory(context, extractionId)).map(({ type }) => type);
  const count = (pattern: RegExp) => types.filter((type) => pattern.test(type)).length;
  return count(/^(Task|LambdaFunction)Scheduled$/) + count(/StateEntered$/) - count(/^TaskStateEntered$/);
};

/** The invocations of a function that logged one of these ids, of extractions and of tasks, in a line of their own. */
export const invocationsFor = (lines: readonly string[], ids: readonly string[]): readonly Invocation[] => {
  const requestIds = new Set(
    lines
      .filter((line) => ids.some((id) => line.includes(id)))
      .flatMap((line) => /"function_request_id":"([^"]+)"/.exec(line)?.[1] ?? []),
  );
  return invocationsOf(lines).filter(({ requestId }) => requestIds.has(requestId));
};

/** How many extractions run at once, and how often. The first time starts processes, and is not counted. */
const round = { extractions: 5, counted: 2 };

/** Runs some extractions on the happy path at once: one request, one webhook, and mostly one read. */
const runRound = async (context: AcceptContext): Promise<readonly PublicExtraction[]> =>
  Promise.all(
    Array.from({ length: round.extractions }, async () => {
      const extractionId = await extract(context, requestOf('cost', { endsAfter: 3 }));
      context.waitFor(`extraction ${extractionId} to end`);
      // A read is an invocation, and a caller makes one.
      await context.sleep(10_000);
      return readUntil(context, extractionId, 'COMPLETED and collected', isDone);
    }),
  );

/** Between two reads of the metric, for how long it has to stay the same, and for how long it is waited for, in milliseconds. */
const [metricEveryMs, metricSettledMs, metricWaitMs] = [15_000, 90_000, 600_000];

/**
 * How many transitions Step Functions counted since a time, for every machine of the account and region
 * (https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html). Its values come minutes later, so it is read
 * until it has stayed the same. They are "delivered on a best-effort basis", so that there may be none.
 */
const consumedTransitions = async ({ client, sleep, now, waitFor }: AcceptContext, since: Date) => {
  const cloudWatch = new CloudWatchClient(client);
  const metric = {
    namespace: 'AWS/States',
    name: 'ConsumedCapacity',
    dimensions: { ServiceMetric: 'StateTransition' },
  };
  waitFor('the metric ConsumedCapacity of Step Functions');
  const begun = now().getTime();
  let last = { sum: 0, at: begun };
  while (now().getTime() - begun < metricWaitMs) {
    const sum = await sumMetric(cloudWatch, metric, since, now());
    if (sum !== last.sum) last = { sum, at: now().getTime() };
    else if (sum > 0 && now().getTime() - last.at >= metricSettledMs) return sum;
    await sleep(metricEveryMs);
  }
  return undefined;
};

/** The begin of the next minute, as CloudWatch keeps values by whole minutes. */
const nextMinute = (time: Date): Date => new Date(Math.ceil(time.getTime() / 60_000) * 60_000);

/** CloudWatch Logs has the lines of an invocation some seconds after its end. */
const logDelayMs = 20_000;

export const costOfMillion: Check = {
  id: 'cost',
  title: 'What Lambda and Step Functions bill for a million extractions, beside the estimate',
  turn: 'alone',
  dependsOn: webhookArrives,
  // The metric of Step Functions may come ten minutes later.
  seconds: () => 900,
  notOnEmulator: 'its durations are not those of Lambda',
  run: async (context) => {
    const { stack, client, sleep, now, waitFor } = context;
    await runRound(context);
    // The transitions before are of other minutes.
    const since = nextMinute(now());
    waitFor('the next minute');
    await sleep(since.getTime() - now().getTime());
    const extractions: PublicExtraction[] = [];
    for (let left = round.counted; left > 0; left -= 1) extractions.push(...(await runRound(context)));
    context.waitFor('the logs of the functions');
    await sleep(logDelayMs);
    const ids = extractions.flatMap(({ extractionId, taskId }) => [
      extractionId,
      ...(taskId ? [taskId] : []),
    ]);
    const perFunction = await Promise.all(
      (await stack.functions()).map(async ({ logGroup }) =>
        invocationsFor(await readLogLines(client, logGroup, since), ids),
      ),
    );
    const transitions = await Promise.all(
      extractions.map(({ extractionId }) => transitionsOf(context, extractionId)),
    );
    const measured = measuredCost(perFunction.flat(), transitions, extractions.length);
    const consumed = await consumedTransitions(context, since);
    const edges =
      consumed === undefined
        ? 'Step Functions published no ConsumedCapacity, so it is open whether Start and End count.'
        : describeStartAndEnd(consumed / extractions.length, measured.transitions);
    return passed(`${compareCostWithEstimate(measured, await readEstimate())} ${edges}`);
  },
};
