import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { metricsNamespace } from '../../../lib/observability/metric-names.ts';
import type { Config } from '../../settings/config.ts';
import { type AlarmEntry, type AlarmsProps, createAlarm, failedShare, type NotifyingAlarm } from './alarm.ts';

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
export const bankAlarms = (scope: Construct, props: AlarmsProps): readonly NotifyingAlarm[] => {
  const banks = new Construct(scope, 'Banks');
  const { config } = props;
  const { watchedEntities } = config;
  const counted =
    watchedEntities.length === 0
      ? []
      : ([
          ['BankEnded', filterPattern(watchedEntities)],
          ['BankFailed', filterPattern(watchedEntities, '&&($.failed IS TRUE)')],
        ] as const);
  for (const [metricName, pattern] of counted) {
    for (const [index, logGroup] of props.logGroups.entries()) {
      new MetricFilter(banks, `${metricName}${index}`, {
        logGroup,
        filterPattern: FilterPattern.literal(pattern),
        metricNamespace: metricsNamespace(config.stage),
        metricName,
        metricValue: '1',
        dimensions: { Entity: '$.entity' },
      });
    }
  }
  return watchedEntities.map((entity) => ({ alarm: createAlarm(banks, config, entryOf(entity, config)) }));
};

const entryOf = (entity: string, { stage }: Config): AlarmEntry => {
  const metric = (metricName: string) =>
    new Metric({
      namespace: metricsNamespace(stage),
      metricName,
      dimensionsMap: { Entity: entity },
      statistic: Stats.SUM,
    });
  return {
    id: `bank-failing-${entity}`,
    constructId: entity,
    runbookEntry: 'bank-failing',
    symptom: `Users of ${entity} get nothing: most extractions there fail. \`cosecha health\` names the causes.`,
    // A line counts in both metrics, so that a period with a failure has both.
    metric: failedShare(metric('BankFailed'), metric('BankEnded'), {
      atLeast: fewestFailures,
      minutes: 60,
      of: ` of ${entity}`,
    }),
    threshold: percent,
  };
};
