import { describe, expect, test } from 'vitest';
import { ownOutcomes, terminalStatuses } from '../../../../../lib/extraction/record.ts';
import { zeroFilledMetrics } from '../../../../../lib/observability/metric-names.ts';
import { isWindow } from '../../../../../tools/cli/aws/read-alarms.ts';
import { metricNames } from '../../../docs/metric-names.ts';
import { flatten, notifyingAlarms, type Resource, resourcesOf, synthesize } from '../../synth.ts';

type Dimension = { readonly Name: string; readonly Value: unknown };
type Watched = {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly Dimension[];
};
type Query = {
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Watched; readonly Period: number };
};

const alarmsWith = (settings: Readonly<Record<string, unknown>> = {}) =>
  Object.values(resourcesOf(synthesize(settings).template, 'AWS::CloudWatch::Alarm'));

const queriesOf = ({ Properties }: Resource) => (Properties.Metrics ?? []) as readonly Query[];

/** The metrics of an alarm, direct or in metric math. */
const watchedBy = (alarm: Resource): readonly Watched[] => {
  const inMath = queriesOf(alarm).flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
  // Contributor Insights is no metric.
  if (queriesOf(alarm).length > 0) return inMath;
  return [alarm.Properties as unknown as Watched];
};

const byName = (alarms: readonly Resource[]) =>
  Object.fromEntries(
    alarms.map(({ Properties }) => [
      String(Properties.AlarmName).replace(/^Cosecha-[a-z]+-/, ''),
      Properties,
    ]),
  );

const alarms = alarmsWith();
const ownMetrics = alarms.flatMap(watchedBy).filter(({ Namespace }) => Namespace.startsWith('Cosecha/'));
const namesOf = (dimensions: readonly Dimension[]) => dimensions.map(({ Name }) => Name).toSorted();

describe('the alarms', () => {
  test('watch metrics that the code counts, with the dimensions of the code', () => {
    expect(ownMetrics.length).toBeGreaterThan(15);
    for (const { Namespace, MetricName, Dimensions } of ownMetrics) {
      expect(metricNames).toContain(MetricName);
      // The dimensions of the EMF: test/unit/lib/observability/observability.test.ts.
      expect([Namespace, Dimensions]).toEqual(['Cosecha/prod', [{ Name: 'service', Value: 'cosecha' }]]);
    }
  });

  test('watch each metric once, so that none has the metric of another', () => {
    // All windows of the composite alarms watch the same two.
    const names = alarms
      .filter(({ Properties }) => !isWindow(String(Properties.AlarmName)))
      .flatMap(watchedBy)
      .flatMap(({ Namespace, MetricName }) => (Namespace === 'Cosecha/prod' ? MetricName : []));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('watch metrics of AWS with the dimensions of AWS', () => {
    const dimensions: Readonly<Record<string, readonly string[]>> = {
      'AWS/ApiGateway': ['ApiId', 'Stage'],
      'AWS/Lambda': ['FunctionName'],
      'AWS/SQS': ['QueueName'],
      'AWS/States': ['StateMachineArn'],
    };
    const awsMetrics = alarms.flatMap(watchedBy).filter(({ Namespace }) => !Namespace.startsWith('Cosecha/'));
    for (const { Namespace, Dimensions } of awsMetrics) {
      const names = namesOf(Dimensions).filter((name) => !['Method', 'Resource'].includes(name));
      expect([Namespace, names]).toEqual([Namespace, dimensions[Namespace]]);
    }
  });

  test('watch the pipe for failures, and for outcomes without an invocation', () => {
    const withBus = byName(alarmsWith({ fanOutToEventBus: 'true' }));
    const pipe = synthesize({ fanOutToEventBus: 'true' }).template.findOutputs('PipeName').PipeName?.Value;
    const ofPipe = (MetricName: string) => ({
      ...{ Namespace: 'AWS/EventBridge/Pipes', MetricName },
      Dimensions: [{ Name: 'PipeName', Value: pipe }],
    });
    expect(withBus['fan-out-executions-failed']).toMatchObject(ofPipe('ExecutionFailed'));
    expect(withBus['fan-out-target-failed']).toMatchObject(ofPipe('TargetStageFailed'));
    expect(withBus['fan-out-stopped']).toMatchObject({
      EvaluationPeriods: 2,
      Metrics: [
        { Expression: 'IF(ended > 0 AND FILL(invoked, 0) == 0, 1, 0)' },
        { MetricStat: { Metric: { MetricName: 'SecondsToOutcome' }, Period: 1_800, Stat: 'SampleCount' } },
        { MetricStat: { Metric: ofPipe('Invocations'), Period: 1_800, Stat: 'Sum' } },
      ],
    });
  });

  test('watch the webhook by an existing route with its own metrics', () => {
    const [stage] = Object.values(resourcesOf(synthesize().template, 'AWS::ApiGatewayV2::Stage'));
    const routes = stage?.Properties.RouteSettings as Record<string, { DetailedMetricsEnabled?: boolean }>;
    const measured = Object.keys(routes).filter((route) => routes[route]?.DetailedMetricsEnabled);
    const watched = alarms
      .flatMap(watchedBy)
      .map(({ Dimensions }) => new Map(Dimensions.map(({ Name, Value }) => [Name, Value])))
      .filter((dimensions) => dimensions.has('Resource'))
      .map((dimensions) => `${dimensions.get('Method')} ${dimensions.get('Resource')}`);
    expect([...new Set(watched)]).toEqual(measured);
    const deployed = Object.values(resourcesOf(synthesize().template, 'AWS::ApiGatewayV2::Route'));
    expect(deployed.map(({ Properties }) => Properties.RouteKey)).toEqual(expect.arrayContaining(measured));
  });

  test('calculate only with metrics to which every sweep adds 0', () => {
    const inMath = alarms
      .filter((alarm) => queriesOf(alarm).length > 0)
      .flatMap(watchedBy)
      .flatMap(({ Namespace, MetricName }) => (Namespace === 'Cosecha/prod' ? MetricName : []));
    // Each failed outcome is counted in both of these, so that none has a value without the other.
    const together = ['OutcomeFailed', 'SecondsToOutcome'];
    expect([...new Set(inMath)].toSorted()).toEqual([...zeroFilledMetrics, ...together].toSorted());
  });

  test('calculate over periods that have a sweep in them, also if sweeps are rare', () => {
    const rare = alarmsWith({ sweepEveryMinutes: 60 });
    const periods = rare
      .filter(({ Properties }) => !isWindow(String(Properties.AlarmName)))
      .filter((alarm) => watchedBy(alarm).some(({ Namespace }) => Namespace === 'Cosecha/prod'))
      .flatMap(queriesOf)
      .flatMap(({ MetricStat }) => MetricStat?.Period ?? []);
    expect(periods.length).toBeGreaterThan(0);
    expect(Math.min(...periods)).toBeGreaterThanOrEqual(3_600);
  });

  test('allow a few failures under load', () => {
    const expressions = Object.entries(byName(alarms)).flatMap(([name, { Metrics }]) =>
      ((Metrics ?? []) as readonly Query[]).flatMap(({ Expression }) =>
        Expression === undefined ? [] : [[name, Expression]],
      ),
    );
    expect(expressions).toEqual([
      ['orphan-deliveries', 'unlinked - early'],
      ['start-task-errors', 'IF(bad >= 3 AND bad >= all / 100, bad, 0)'],
      ['webhooks-missed', 'IF(missed >= 5, 100 * missed / (missed + webhook + early), 0)'],
      ['webhook-failing', 'IF(bad >= 5 AND bad >= all / 100, bad, 0)'],
      ['provider-reads-failing', 'IF(failed > collected, failed, 0)'],
      ['api-failing', 'IF(bad >= 5 AND bad >= all / 100, bad, 0)'],
      ['outcomes-failing-fast-over-60min', 'IF(failed >= 5, 100 * failed / ended, 0)'],
      ['outcomes-failing-fast-over-5min', 'IF(failed >= 1, 100 * failed / ended, 0)'],
      ['outcomes-failing-slowly-over-360min', 'IF(failed >= 5, 100 * failed / ended, 0)'],
      ['outcomes-failing-slowly-over-30min', 'IF(failed >= 1, 100 * failed / ended, 0)'],
      ['bank-failing', 'IF(worst >= 5, ended - FILL(answered, 0), 0)'],
      ['bank-failing', 'INSIGHT_RULE_METRIC("Cosecha-prod-bank-outcomes", "UniqueContributors")'],
      ['bank-failing', 'INSIGHT_RULE_METRIC("Cosecha-prod-bank-answers", "UniqueContributors")'],
      ['bank-failing', 'INSIGHT_RULE_METRIC("Cosecha-prod-bank-failures", "MaxContributorValue")'],
    ]);
  });

  test('describe the problem in a sentence and link to the runbook', () => {
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription).toMatch(/^[A-Z][^\n]{30,250}\. docs\/operations\.md#[a-z-]+$/);
    }
    const [copy] = alarmsWith({ runbookUrl: 'https://wiki.example/cosecha' });
    expect(copy?.Properties.AlarmDescription).toMatch(/ https:\/\/wiki\.example\/cosecha#overdue$/);
  });

  test('have unique names that start with the stack', () => {
    const names = alarms.map(({ Properties }) => String(Properties.AlarmName));
    expect(names.filter((name) => !name.startsWith('Cosecha-prod-'))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test('notify the topic, if there is one, when they start and when they end', () => {
    const topic = 'arn:aws:sns:eu-west-1:111122223333:on-call';
    for (const { Properties } of notifyingAlarms(synthesize({ alarmTopicArn: topic }).template)) {
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([[topic], [topic]]);
    }
    for (const { Properties } of alarms) expect(Properties.AlarmActions).toBeUndefined();
  });

  test('are not in alarm without values, except where missing values are the problem', () => {
    const others = alarmsWith({ fanOutToEventBus: 'true' }).flatMap(({ Properties: alarm }) =>
      alarm.TreatMissingData === 'notBreaching'
        ? []
        : [[String(alarm.AlarmName).replace('Cosecha-prod-', ''), alarm.TreatMissingData]],
    );
    expect(others).toEqual([
      ['sweep-not-running', 'breaching'],
      // An idle queue has no values, even with messages in it. Neither has a stopped pipe.
      ['dead-letters', 'ignore'],
      ['fan-out-stopped', 'ignore'],
      ['fan-out-dead-letters', 'ignore'],
    ]);
  });

  test('follow the settings on which they depend', () => {
    const slow = byName(alarmsWith({ sweepEveryMinutes: 10, pollEverySeconds: 30 }));
    // Three sweeps, in periods that have one in them. sweep-not-running: no sweep for half an hour.
    expect(slow.overdue).toMatchObject({ Threshold: 1_800, Period: 600 });
    expect(slow.stuck).toMatchObject({ Threshold: 5_400, Period: 7_200 });
    expect(slow['sweep-failed']).toMatchObject({ Period: 600 });
    expect(slow['sweep-not-running']).toMatchObject({ Period: 300, EvaluationPeriods: 6 });
    // 600 s / 15 s = 40 reads by one extraction.
    expect(slow['provider-reads-failing']).toMatchObject({ Threshold: 80 });
    // A delay of 900 s, a visibility timeout of 6 × (4 × 60 + 40) s, and three minutes.
    const patient = byName(alarmsWith({ providerTimeoutMs: 60_000, startTimeoutSeconds: 250 }));
    expect(patient['reconcile-queue-late']).toMatchObject({ Threshold: 2_760 });
    expect(byName(alarms)['reconcile-queue-late']).toMatchObject({ Threshold: 1_800 });
  });

  test('count orphan deliveries in whole hours of the clock', () => {
    expect(byName(alarms)['orphan-deliveries']).toMatchObject({
      EvaluationWindow: { WallClockWindow: { Timezone: 'UTC' } },
      Metrics: [
        { Expression: 'unlinked - early' },
        { Id: 'unlinked', MetricStat: { Metric: { MetricName: 'UnlinkedDelivery' }, Period: 3_600 } },
        { Id: 'early', MetricStat: { Metric: { MetricName: 'EarlyDelivery' }, Period: 3_600 } },
      ],
    });
  });

  test('exist on the emulator too, without metric math', () => {
    const local = alarmsWith({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });
    // Neither composite alarms nor Contributor Insights.
    const elsewhere = Object.keys(byName(alarms)).filter((name) => !/^(outcomes|bank)-failing/.test(name));
    expect(Object.keys(byName(local))).toEqual(elsewhere);
    for (const { Properties } of local) {
      expect(Properties).not.toHaveProperty('Metrics');
      expect(Properties).toMatchObject({ Namespace: expect.any(String), Period: expect.any(Number) });
    }
  });
});

describe('outcomes that fail', () => {
  const { template } = synthesize();

  test.each([
    ['outcomes-failing-fast', [60, 5], 72],
    ['outcomes-failing-slowly', [360, 30], 30],
  ] as const)('%s: in both windows, %j minutes, at least %d %% failed', (id, windows, percent) => {
    const composite = Object.values(resourcesOf(template, 'AWS::CloudWatch::CompositeAlarm')).find(
      ({ Properties }) => Properties.AlarmName === `Cosecha-prod-${id}`,
    );
    const rule = JSON.stringify(composite?.Properties.AlarmRule);
    expect(rule).toMatch(/^[^|]*ALARM[^|]* AND ALARM[^|]*$/);
    for (const minutes of windows) {
      const [logicalId, window] =
        Object.entries(resourcesOf(template, 'AWS::CloudWatch::Alarm')).find(
          ([, { Properties }]) => Properties.AlarmName === `Cosecha-prod-${id}-over-${minutes}min`,
        ) ?? [];
      expect(rule).toContain(`"${logicalId}"`);
      expect(window?.Properties).toMatchObject({ Threshold: percent, TreatMissingData: 'notBreaching' });
      expect(window && queriesOf(window).flatMap(({ MetricStat }) => MetricStat ?? [])).toMatchObject([
        { Metric: { MetricName: 'OutcomeFailed' }, Period: 60 * minutes, Stat: 'Sum' },
        { Metric: { MetricName: 'SecondsToOutcome' }, Period: 60 * minutes, Stat: 'SampleCount' },
      ]);
    }
  });

  test.each([
    [1, 1, false],
    [1, 2, false],
    [4, 4, false],
    [5, 6, true],
    [71, 100, false],
    [72, 100, true],
  ])('%d of %d in an hour breach: %s', (failed, ended, breaches) => {
    const window = byName(alarms)['outcomes-failing-fast-over-60min'];
    const [expression] = (window?.Metrics ?? []) as readonly Query[];
    // Metric math without AND is an expression of JavaScript.
    const evaluate = new Function('IF', 'failed', 'ended', `return ${expression?.Expression}`);
    const choose = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
    expect(evaluate(choose, failed, ended) >= Number(window?.Threshold)).toBe(breaches);
  });

  test('are counted by bank from the lines of outcomes, in the logs of the functions that write them', () => {
    const bodies = Object.values(resourcesOf(template, 'AWS::CloudWatch::InsightRule')).map(
      ({ Properties }) => JSON.parse(flatten(Properties.RuleBody)),
    );
    const statuses = bodies.map(({ Contribution: { Filters } }) => Filters[1].In as readonly string[]);
    const [ended = [], answered = [], failed = []] = statuses;
    expect([...answered, ...failed]).toEqual(ended);
    expect(ended.toSorted()).toEqual([...terminalStatuses, ...ownOutcomes].toSorted());
    for (const body of bodies) {
      expect(body).toMatchObject({
        LogGroupNames: [
          expect.stringContaining('StartTask'),
          expect.stringContaining('ReceiveWebhook'),
          expect.stringContaining('ReconcileExtraction'),
        ],
        Contribution: {
          Keys: ['$.entity'],
          Filters: [{ Match: '$.message', In: ['Extraction ended.'] }, {}],
        },
        AggregateOn: 'Count',
      });
      // Contributor Insights takes ten values.
      expect(body.Contribution.Filters[1].In.length).toBeLessThanOrEqual(10);
    }
  });
});
