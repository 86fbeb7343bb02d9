import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { expect, test } from 'vitest';
import { readRules } from '../../../../../tools/cli/aws/read-rules.ts';
import { checkRules } from '../../../../../tools/cli/doctor/check-rules.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const sweep = { State: 'ENABLED', ScheduleExpression: 'rate(5 minutes)' };
const broken = { State: 'ENABLED' };

const check = async (rules: Record<string, object>) => {
  const { client } = stubClient<EventBridgeClient>(({ input }) => rules[String(input.Name)]);
  return checkRules(await readRules(client, Object.keys(rules)));
};

test.each([
  ['rate(5 minutes)', 5],
  ['rate(1 hour)', 60],
])(
  'enabled rules pass, with the schedule %s of the sweep in minutes',
  async (ScheduleExpression, minutes) => {
    expect(await check({ sweep: { ...sweep, ScheduleExpression }, broken })).toEqual({
      result: 'passed',
      message: `rules are ENABLED: the sweep every ${minutes} min, and 1 other`,
    });
  },
);

test('a disabled sweep fails, with the command that enables it', async () => {
  expect(await check({ sweep: { ...sweep, State: 'DISABLED' }, broken })).toEqual({
    result: 'failed',
    message: 'disabled: sweep',
    remedy: 'Without the sweep nothing is guaranteed to end. Run aws events enable-rule --name sweep',
  });
});

test('a disabled rule for broken executions fails, and its remedy names the lesser effect', async () => {
  expect(await check({ sweep, broken: { State: 'DISABLED' } })).toEqual({
    result: 'failed',
    message: 'disabled: broken',
    remedy:
      'Until it is enabled, broken executions wait for the sweep. Run aws events enable-rule --name broken',
  });
});

test('rules without a schedule fail', async () => {
  expect(await check({ broken })).toMatchObject({ result: 'failed', message: 'no rule has a schedule' });
});
