import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import { dollarsPerMillion } from '../../../lib/observability/dollars-per-million.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import type { Config } from '../../settings/config.ts';

/**
 * How many were requested, and ended how, by caller and bank. A line may be repeated, so extractions are counted. Each field of `by` is in
 * every line, as what Logs Insights does with a missing one is not documented.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-Stats.html
 */
const queryString = [
  `filter message in ["${logMessages.requested}", "${logMessages.ended}"] and ispresent(caller)`,
  'filter ispresent(entity) or ispresent(product)',
  'fields coalesce(entity, product) as bank, coalesce(status, message) as what',
  `stats count_distinct(extractionId) as extractions, count_distinct(extractionId) * ${dollarsPerMillion.credentials / 1e6} as dollars by caller, bank, what`,
  'sort extractions desc',
].join(' | ');

type UsageQueryProps = { readonly config: Config; readonly logGroups: readonly ILogGroup[] };

/** A query of Logs Insights that gives each team its share, under "Saved queries". It costs nothing until somebody runs it. */
export class UsageQuery extends Construct {
  constructor(scope: Construct, id: string, { config, logGroups }: UsageQueryProps) {
    super(scope, id);
    new CfnQueryDefinition(this, 'Query', {
      name: `${stackNameOf(config.stage)}/usage`,
      queryString,
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    });
  }
}
