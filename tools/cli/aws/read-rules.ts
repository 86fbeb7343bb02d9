import { DescribeRuleCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { defined } from '../../../lib/defined.ts';

/** `rate(5 minutes)` as 5. The CDK writes 60 minutes, the most that is allowed, as `rate(1 hour)`. Undefined without a schedule. */
const minutesOf = (schedule = ''): number | undefined => {
  const [, count, unit] = /^rate\((\d+) (minute|hour)s?\)$/.exec(schedule) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'hour' ? 60 : 1);
};

/** Reads rules by their physical ids in CloudFormation: `rule`, or `bus|rule`. */
export const readRules = (client: EventBridgeClient, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const [Name = '', EventBusName] = id.split('|').toReversed();
      const { State, ScheduleExpression } = await client.send(
        new DescribeRuleCommand(defined({ Name, EventBusName })),
      );
      return { name: Name, enabled: State === 'ENABLED', everyMinutes: minutesOf(ScheduleExpression) };
    }),
  );

export type Rule = Readonly<Awaited<ReturnType<typeof readRules>>[number]>;
