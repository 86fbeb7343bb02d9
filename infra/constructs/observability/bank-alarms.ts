import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { metricsNamespace } from '../../../lib/observability/metric-names.ts';
import { type AlarmsProps, alarmDescription, alarmName } from './alarm-name.ts';

/** In an hour, of one bank. At a low volume, one failure is a large share. */
const fewestFailures = 5;

/** Of the outcomes of one bank in an hour. */
const percent = 50;

/** Matches the lines of outcomes of these entities, which need this too. A line that repeats an outcome has `again`. */
const filterPattern = (entities: readonly string[], condition = ''): string => {
  const banks = entities.map((entity) => `$.entity="${entity}"`).join('||');
  return `{$.message="${logMessages.ended}"&&($.again NOT EXISTS)&&(${banks})${condition}}`;
};

/**
 * An alarm for each bank of `watchedEntities`. Metric filters make two metrics of the lines of outcomes, with the bank as a
 * dimension. Contributor Insights counts banks without metrics, but compares no two counts of the same bank. So one bank with 5
 * failures among many successes, beside another whose only request failed, had the rate of a bank that fails.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
 */
export class BankAlarms extends Construct {
  readonly all: readonly AlarmBase[];
  private readonly props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.props = props;
    const { watchedEntities } = props.config;
    if (watchedEntities.length > 0) {
      this.count('BankEnded', filterPattern(watchedEntities));
      this.count('BankFailed', filterPattern(watchedEntities, '&&($.failed IS TRUE)'));
    }
    this.all = watchedEntities.map((entity) => this.alarm(entity));
  }

  private count(metricName: string, pattern: string): void {
    for (const [index, logGroup] of this.props.logGroups.entries()) {
      new MetricFilter(this, `${metricName}${index}`, {
        logGroup,
        filterPattern: FilterPattern.literal(pattern),
        metricNamespace: metricsNamespace(this.props.config.stage),
        metricName,
        metricValue: '1',
        dimensions: { Entity: '$.entity' },
      });
    }
  }

  private alarm(entity: string): AlarmBase {
    const { config } = this.props;
    const metric = (metricName: string) =>
      new Metric({
        namespace: metricsNamespace(config.stage),
        metricName,
        dimensionsMap: { Entity: entity },
        statistic: Stats.SUM,
      });
    return new Alarm(this, entity, {
      alarmName: alarmName(config, `bank-failing-${entity}`),
      alarmDescription: alarmDescription(
        config,
        `Users of ${entity} get nothing: most extractions there fail. \`cosecha health\` names the causes.`,
        'bank-failing',
      ),
      // A line counts in both metrics, so that a period with a failure has both.
      metric: new MathExpression({
        expression: `IF(failed >= ${fewestFailures}, 100 * failed / ended, 0)`,
        usingMetrics: { failed: metric('BankFailed'), ended: metric('BankEnded') },
        period: Duration.hours(1),
        label: `% of outcomes of ${entity} that failed`,
      }),
      threshold: percent,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}
