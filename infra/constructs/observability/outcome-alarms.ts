import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { type AlarmsProps, alarmDescription, alarmName } from './alarm-name.ts';

/** Of all outcomes, in percent, those that should not fail (`judgeOutcome`). The rest is the error budget: 5 %. */
const target = 95;

/** In minutes. The alarm is on while the share of failures is over `percent` in both windows. */
type BurnRate = {
  readonly id: string;
  readonly pages?: true;
  readonly symptom: string;
  readonly longWindow: number;
  readonly shortWindow: number;
  readonly percent: number;
};

/**
 * Multiple windows and burn rates: https://sre.google/workbook/alerting-on-slos/ ("Multiwindow, Multi-Burn-Rate Alerts"). The
 * short window ends the alarm soon after the failures end.
 *
 * - fast: 14.4 times the budget, 14.4 × 5 = 72 %. An hour of it uses 14.4 / 720 = 2 % of the budget of 30 days.
 * - slow: 6 times the budget, 6 × 5 = 30 %. Six hours of it use 6 × 6 / 720 = 5 %.
 */
const burnRates: readonly BurnRate[] = [
  {
    id: 'outcomes-failing-fast',
    pages: true,
    symptom:
      'Callers lack bank data: most extractions fail. `cosecha health` names the banks and the causes.',
    longWindow: 60,
    shortWindow: 5,
    percent: 14.4 * (100 - target),
  },
  {
    id: 'outcomes-failing-slowly',
    symptom: 'Callers lack bank data: for hours, many extractions fail. `cosecha health` names the banks.',
    longWindow: 360,
    shortWindow: 30,
    percent: 6 * (100 - target),
  },
];

/**
 * At a low volume, one failure is a large share. So the long window needs 5 failures: 1 of 2 raises no alarm, 5 of 6 do. The
 * short one needs none, as it only shows whether they go on.
 */
const fewestFailures = 5;

/** Alarms on how extractions end, over all of them. An emulator has no composite alarms, so a stage there has none of them. */
export class OutcomeAlarms extends Construct {
  readonly all: readonly AlarmBase[];
  readonly paging: readonly AlarmBase[];
  private readonly props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.props = props;
    this.all = burnRates.map((rate) => this.burnRateAlarm(rate));
    this.paging = this.all.filter((_, index) => burnRates[index]?.pages);
  }

  private describe(symptom: string, entry: string): string {
    return alarmDescription(this.props.config, symptom, entry);
  }

  private name(id: string): string {
    return alarmName(this.props.config, id);
  }

  /** A composite alarm, as one alarm has one window. */
  private burnRateAlarm(rate: BurnRate): AlarmBase {
    const { id, symptom, longWindow, shortWindow } = rate;
    const windows = [this.window(rate, longWindow, fewestFailures), this.window(rate, shortWindow, 1)];
    return new CompositeAlarm(this, id, {
      compositeAlarmName: this.name(id),
      alarmDescription: this.describe(symptom, 'outcomes-failing'),
      alarmRule: AlarmRule.allOf(...windows.map((one) => AlarmRule.fromAlarm(one, AlarmState.ALARM))),
    });
  }

  /**
   * Part of a composite alarm, which alone notifies somebody. Both metrics are published together, so that a period with a failure
   * has both. One without has no value, and is not breaching.
   */
  private window({ id, percent }: BurnRate, minutes: number, atLeast: number): Alarm {
    const part = `${id}-over-${minutes}min`;
    const { custom } = this.props.metrics;
    return new Alarm(this, part, {
      alarmName: this.name(part),
      alarmDescription: this.describe(`A part of ${id}, which alone notifies somebody.`, 'outcomes-failing'),
      metric: new MathExpression({
        expression: `IF(failed >= ${atLeast}, 100 * failed / ended, 0)`,
        usingMetrics: {
          failed: custom('OutcomeFailed'),
          // Every outcome has a time, and is one sample of it. A correction is an outcome more.
          ended: custom('SecondsToOutcome', Stats.SAMPLE_COUNT),
        },
        period: Duration.minutes(minutes),
        label: '% of outcomes that failed',
      }),
      threshold: percent,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}
