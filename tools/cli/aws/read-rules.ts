import { DescribeRuleCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { defined } from '../../../lib/defined.ts';

export type Rule = {
  readonly name: string;
  readonly enabled: boolean;
  /** Minutes between two runs; undefined for a rule without a schedule. */
  readonly everyMinutes: number | undefined;
};

const minutesPer: Readonly<Record<string, number>> = { minute: 1, hour: 60 };

/** `rate(5 minutes)` as 5. The CDK writes 60 minutes, the most that is allowed, as `rate(1 hour)`. */
const minutesOf = (schedule: string | undefined): number | undefined => {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour)s?\)$/.exec(schedule ?? '') ?? [];
  const minutes = minutesPer[unit];
  return minutes === undefined ? undefined : Number(count) * minutes;
};

/** Reads rules by their physical ids in CloudFormation: `rule`, or `bus|rule`. */
export const readRules = (client: EventBridgeClient, ids: readonly string[]): Promise<readonly Rule[]> =>
  Promise.all(
    ids.map(async (id) => {
      const [Name = '', EventBusName] = id.split('|').toReversed();
      const { State, ScheduleExpression } = await client.send(
        new DescribeRuleCommand(defined({ Name, EventBusName })),
      );
      return { name: Name, enabled: State === 'ENABLED', everyMinutes: minutesOf(ScheduleExpression) };
    }),
  );
