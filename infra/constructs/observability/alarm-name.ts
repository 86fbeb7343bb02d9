import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { stackNameOf } from '../../../lib/aws/stage.ts';
import type { Config } from '../../settings/config.ts';
import type { CosechaMetrics } from './metrics.ts';

export type AlarmsProps = {
  readonly config: Config;
  readonly metrics: CosechaMetrics;
  /** Those of the functions that log outcomes. */
  readonly logGroups: readonly ILogGroup[];
};

/** `Cosecha-<stage>-<id>`. */
export const alarmName = ({ stage }: Config, id: string): string => `${stackNameOf(stage)}-${id}`;

/** One sentence of what is wrong, and for whom, with the address of its entry in docs/operations.md. */
export const alarmDescription = ({ runbookUrl }: Config, symptom: string, entry: string): string =>
  `${symptom} ${runbookUrl}#${entry}`;
