import type { SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { extractionMachineDefinition } from '../../../../../infra/extraction-machine-definition.ts';
import { readMachineSettings } from '../../../../../tools/cli/aws/read-machine-settings.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const describing = (definition: string) => stubClient<SFNClient>(() => ({ definition })).client;

test('the times of the machine are those of its definition', async () => {
  const definition = extractionMachineDefinition(
    {
      webhookWaitSeconds: 600,
      startWindowSeconds: 900,
      startTimeoutSeconds: 90,
      deadlineSeconds: 7_200,
      machineSlackSeconds: 900,
      pollFirstSeconds: 5,
      pollEverySeconds: 120,
      pollBackoff: 3,
      startRetryFirstSeconds: 4,
      startRetryEverySeconds: 60,
    },
    { startTask: 'start', reconcile: 'reconcile' },
  );
  expect(await readMachineSettings(describing(JSON.stringify(definition)), 'arn')).toEqual({
    webhookWait: 600,
    startRetry: { first: 4, every: 60, backoff: 2 },
    poll: { first: 5, every: 120, backoff: 3 },
  });
});

test.each(['{}', 'not JSON'])(
  'a definition of another form, %s, is refused with a sentence',
  async (text) => {
    await expect(readMachineSettings(describing(text), 'arn')).rejects.toThrow('another definition');
  },
);
