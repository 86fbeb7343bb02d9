import { describe, expect, test } from 'vitest';
import { zeroFilledMetrics } from '#lib/observability/metric-names.ts';
import { isWindow } from '../../../../../tools/cli/aws/read-alarms.ts';
import { read } from '../../../docs/pages.ts';
import { flatten, notifyingAlarms, propertiesOf, synthesize } from '../../synth.ts';
import { type Alarm, queriesOf, type Watched, watchedBy } from './watched-metrics.ts';

const alarmsWith = (settings: Readonly<Record<string, unknown>> = {}): readonly Alarm[] =>
  propertiesOf(synthesize(settings).template, 'AWS::CloudWatch::Alarm');

const nameOf = ({ AlarmName }: Alarm): string => String(AlarmName).replace(/^Cosecha-[a-z]+-/, '');

const byName = (alarms: readonly Alarm[]): Readonly<Record<string, Alarm>> =>
  Object.fromEntries(alarms.map((alarm) => [nameOf(alarm), alarm]));

const alarms = alarmsWith();

const describeMetric = ({ MetricName, Dimensions }: Watched, stat: unknown, seconds: unknown): string => {
  const dimensions = Dimensions.map(({ Name, Value }) => `${Name} ${flatten(Value)}`);
  return `${stat} ${MetricName} of ${dimensions.join(', ')} in ${seconds} s`;
};

/** On one line: the metric or the calculation, over which period, how often, and what missing values are. */
const lineOf = (alarm: Alarm): string => {
  const parts = queriesOf(alarm).map(({ Id, Expression, MetricStat }) =>
    MetricStat
      ? `${Id}: ${describeMetric(MetricStat.Metric, MetricStat.Stat, MetricStat.Period)}`
      : Expression,
  );
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold, ComparisonOperator } = alarm;
  if (parts.length === 0)
    parts.push(
      describeMetric(
        watchedBy(alarm)[0] as Watched,
        alarm.Statistic ?? alarm.ExtendedStatistic,
        alarm.Period,
      ),
    );
  const sign = String(ComparisonOperator).startsWith('Less') ? '<' : '>=';
  const often = `${DatapointsToAlarm} of ${EvaluationPeriods}`;
  return `${nameOf(alarm)} ${sign} ${Threshold}, ${often}, missing ${alarm.TreatMissingData}: ${parts.join('; ')}`;
};

test('the alarms are those that a reviewer has read', async () => {
  const { template } = synthesize({ publishEvents: 'true', watchedEntities: 'demo-bank' });
  const composites = propertiesOf(template, 'AWS::CloudWatch::CompositeAlarm').map(
    (alarm) => `${nameOf(alarm)}: ${flatten(alarm.AlarmRule)}`,
  );
  const lines = [...propertiesOf(template, 'AWS::CloudWatch::Alarm').map(lineOf), ...composites];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('alarms.txt');
});

describe('the alarms', () => {
  test('watch each metric once, so that none has the metric of another', () => {
    // What the others are compared with.
    const whole = ['SecondsToOutcome', 'SettledByWebhook', 'Collected'];
    // All windows of the composite alarms watch the same two.
    const names = alarms
      .filter((alarm) => !isWindow(nameOf(alarm)))
      .flatMap(watchedBy)
      .flatMap(({ Namespace, MetricName }) => (Namespace === 'Cosecha/prod' ? MetricName : []))
      .filter((name) => !whole.includes(name));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('watch the webhook by an existing route with its own metrics', () => {
    const [stage] = propertiesOf(synthesize().template, 'AWS::ApiGatewayV2::Stage');
    const routes = stage?.RouteSettings as Record<string, { DetailedMetricsEnabled?: boolean }>;
    const measured = Object.keys(routes).filter((route) => routes[route]?.DetailedMetricsEnabled);
    const watched = alarms
      .flatMap(watchedBy)
      .map(({ Dimensions }) => new Map(Dimensions.map(({ Name, Value }) => [Name, Value])))
      .filter((dimensions) => dimensions.has('Resource'))
      .map((dimensions) => `${dimensions.get('Method')} ${dimensions.get('Resource')}`);
    expect([...new Set(watched)]).toEqual(measured);
    const deployed = propertiesOf(synthesize().template, 'AWS::ApiGatewayV2::Route');
    expect(deployed.map(({ RouteKey }) => RouteKey)).toEqual(expect.arrayContaining(measured));
  });

  test('calculate only with metrics to which every sweep adds 0', () => {
    const inMath = alarms
      .filter((alarm) => queriesOf(alarm).length > 0)
      .flatMap(watchedBy)
      .flatMap(({ Namespace, MetricName }) => (Namespace === 'Cosecha/prod' ? MetricName : []));
    // Each outcome is counted with its time, so that none of these has a value without SecondsToOutcome. Results are abandoned
    // beside Collected, to which a sweep adds 0.
    const together = [
      'OutcomeFailed',
      'SecondsToOutcome',
      'Unconfirmed',
      'NotStarted',
      'CollectionAbandoned',
    ];
    expect([...new Set(inMath)].toSorted()).toEqual([...zeroFilledMetrics, ...together].toSorted());
  });

  test('calculate over periods that have a sweep in them, also if sweeps are rare', () => {
    const rare = alarmsWith({ stage: 'accept', sweepEveryMinutes: 60 });
    const periods = rare
      .filter((alarm) =>
        watchedBy(alarm).some(({ MetricName }) => zeroFilledMetrics.some((name) => name === MetricName)),
      )
      .flatMap(queriesOf)
      .flatMap(({ MetricStat }) => MetricStat?.Period ?? []);
    expect(periods.length).toBeGreaterThan(0);
    expect(Math.min(...periods)).toBeGreaterThanOrEqual(3_600);
  });

  test('describe the problem in a sentence and link to the runbook', () => {
    for (const { AlarmDescription } of alarms)
      expect(AlarmDescription).toMatch(/^[A-Z][^\n]{30,250}\. docs\/operations\.md#[a-z-]+$/);
    const [copy] = alarmsWith({ runbookUrl: 'https://wiki.example/cosecha' });
    expect(copy?.AlarmDescription).toMatch(/ https:\/\/wiki\.example\/cosecha#overdue$/);
  });

  test('notify the topic, if there is one, when they start and when they end', () => {
    const topic = 'arn:aws:sns:eu-west-1:111122223333:on-call';
    for (const { AlarmActions, OKActions } of notifyingAlarms(synthesize({ alarmTopicArn: topic }).template))
      expect([AlarmActions, OKActions]).toEqual([[topic], [topic]]);
    for (const { AlarmActions } of alarms) expect(AlarmActions).toBeUndefined();
  });

  test('page one topic and notify another, as the runbook has it', () => {
    const arn = (name: string) => `arn:aws:sns:eu-west-1:111122223333:${name}`;
    const settings = {
      alarmTopicArn: arn('tickets'),
      pageTopicArn: arn('pages'),
      watchedEntities: 'demo-bank',
    };
    const notifying = notifyingAlarms(synthesize(settings).template);
    for (const { AlarmActions, OKActions } of notifying) expect(OKActions).toEqual(AlarmActions);
    const paging = notifying.filter(({ AlarmActions }) => String(AlarmActions) === arn('pages')).map(nameOf);
    expect(notifying.length).toBeGreaterThan(3 * paging.length);
    const [, listed = ''] = /^Page somebody for (.*?)\. /ms.exec(read('docs/operations.md')) ?? [];
    const namesIn = (text: string) => [...text.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
    expect(namesIn(listed).toSorted()).toEqual(paging.toSorted());
  });

  test('follow the settings on which they depend', () => {
    const slow = byName(alarmsWith({ stage: 'accept', sweepEveryMinutes: 10, pollEverySeconds: 30 }));
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

  test('exist on the emulator too, without metric math', () => {
    const local = alarmsWith({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });
    // No composite alarms.
    const elsewhere = alarms.map(nameOf).filter((name) => !/^outcomes-failing/.test(name));
    expect(local.map(nameOf)).toEqual(elsewhere);
    for (const alarm of local) {
      expect(alarm).not.toHaveProperty('Metrics');
      expect(alarm).toMatchObject({ Namespace: expect.any(String), Period: expect.any(Number) });
    }
  });
});

describe('banks that fail', () => {
  const { template } = synthesize({ watchedEntities: 'demo-bank, other-bank' });
  const filters = propertiesOf(template, 'AWS::Logs::MetricFilter');

  test('are counted in the lines of outcomes, in the log of each function that writes them', () => {
    const banks =
      '$.message="Extraction ended."&&($.again NOT EXISTS)&&($.entity="demo-bank"||$.entity="other-bank")';
    const counted = filters.map(({ MetricTransformations, LogGroupName, FilterPattern }) => {
      const [to] = MetricTransformations as readonly Record<string, unknown>[];
      expect(to).toMatchObject({ MetricValue: '1', Dimensions: [{ Key: 'Entity', Value: '$.entity' }] });
      return [flatten(LogGroupName), to?.MetricName, FilterPattern];
    });
    expect(counted).toEqual(
      [
        ['BankEnded', `{${banks}}`],
        ['BankFailed', `{${banks}&&($.failed IS TRUE)}`],
      ].flatMap(([name, pattern]) =>
        ['StartTaskLog', 'ReceiveWebhookLog', 'ReconcileExtractionLog'].map((log) => [
          `<${log}>`,
          name,
          pattern,
        ]),
      ),
    );
  });

  test('fit a filter pattern, as many as a setting may name', () => {
    const names = Array.from({ length: 20 }, (_, index) => `bank-${String(index).padStart(25, '0')}`);
    const { template: full } = synthesize({ watchedEntities: names.join() });
    const lengths = propertiesOf(full, 'AWS::Logs::MetricFilter').map(
      ({ FilterPattern }) => String(FilterPattern).length,
    );
    // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutMetricFilter.html
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1_024);
  });
});
