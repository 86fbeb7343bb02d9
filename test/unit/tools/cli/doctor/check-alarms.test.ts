import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { expect, test } from 'vitest';
import { checkAlarms } from '../../../../../tools/cli/doctor/check-alarms.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const check = (MetricAlarms: readonly object[]) =>
  checkAlarms(stubClient<CloudWatchClient>(() => ({ MetricAlarms })).client, ['a', 'b']);

test('an alarm in ALARM fails, and is named', async () => {
  expect(await check([])).toEqual({ result: 'passed', message: 'none of 2 alarms is in ALARM' });
  expect(await check([{ AlarmName: 'a' }])).toMatchObject({ result: 'failed', message: 'in ALARM: a' });
});
