import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import type { Config } from '../../settings/config.ts';
import type { CosechaMetrics } from './metrics.ts';

export type AlarmsProps = {
  readonly config: Config;
  readonly metrics: CosechaMetrics;
  /** Those of the functions that log outcomes. */
  readonly logGroups: readonly ILogGroup[];
};

/** One alarm. It is in alarm at `threshold` or above, except with `below`. */
export type AlarmEntry = {
  /** Its name is `Cosecha-<stage>-<id>`. */
  readonly id: string;
  /** Default: `id`. */
  readonly constructId?: string;
  /** What is wrong, and for whom, in one sentence. */
  readonly symptom: string;
  /** The heading of its entry in docs/operations.md, where that is not its id. */
  readonly runbookEntry?: string;
  /** Somebody is to act at once, by night too. docs/operations.md names just these. */
  readonly pages?: true;
  readonly metric: IMetric;
  /** Default: 1, as one is too many. */
  readonly threshold?: number;
  /** How many of how many periods have to breach. Default: one of one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** In alarm below the threshold, and where there is no value. */
  readonly below?: true;
  /** Keeps its state while there is no value. */
  readonly keepsState?: true;
  /** Evaluates whole hours of the clock instead of the last 60 minutes. */
  readonly wholeHours?: true;
};

/** An alarm that exists, and whether it pages somebody. */
export type NotifyingAlarm = { readonly alarm: AlarmBase; readonly pages?: true | undefined };

/** The name of an alarm, and its description: the symptom, with the address of its entry in docs/operations.md. */
export const namedAlarm = (
  { stage, runbookUrl }: Config,
  { id, symptom, runbookEntry = id }: Pick<AlarmEntry, 'id' | 'symptom' | 'runbookEntry'>,
) => ({
  alarmName: `${stackNameOf(stage)}-${id}`,
  alarmDescription: `${symptom} ${runbookUrl}#${runbookEntry}`,
});

export const createAlarm = (scope: Construct, config: Config, entry: AlarmEntry): Alarm => {
  const {
    id,
    constructId = id,
    metric,
    threshold = 1,
    below = false,
    periods = { breaching: 1, of: 1 },
  } = entry;
  const alarm = new Alarm(scope, constructId, {
    ...namedAlarm(config, entry),
    metric,
    threshold,
    comparisonOperator: below
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods.of,
    datapointsToAlarm: periods.breaching,
    treatMissingData: whenMissing(entry),
  });
  if (entry.wholeHours) {
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
    const resource = alarm.node.defaultChild as CfnAlarm;
    resource.evaluationWindow = { wallClockWindow: { timezone: 'UTC' } };
  }
  return alarm;
};

/** The share of outcomes that failed, in percent. 0 below `atLeast` failures. `of`: whose outcomes, for the label. */
export const failedShare = (
  failed: IMetric,
  ended: IMetric,
  { atLeast, minutes, of = '' }: { readonly atLeast: number; readonly minutes: number; readonly of?: string },
): MathExpression =>
  new MathExpression({
    expression: `IF(failed >= ${atLeast}, 100 * failed / ended, 0)`,
    usingMetrics: { failed, ended },
    period: Duration.minutes(minutes),
    label: `% of outcomes${of} that failed`,
  });

const whenMissing = ({ below, keepsState }: AlarmEntry): TreatMissingData => {
  if (below) return TreatMissingData.BREACHING;
  return keepsState ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING;
};
