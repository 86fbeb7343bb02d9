import type { SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { readExecutionInputOf } from '../../../../lib/aws/read-execution-input.ts';
import { stubClient } from './stub-client.ts';

const machine = 'arn:aws:states:eu-west-1:111122223333:stateMachine:Cosecha-prod-extractions';

test('it is the input of the execution that is named after the extraction', async () => {
  const input = {
    extractionId: 'extraction-1',
    request: { product: 'movement', consentId: 'c', variant: 'v1' },
    requestId: 'request-1',
    sealedCredentials: 'sealed',
  };
  const asked: unknown[] = [];
  const { client } = stubClient<SFNClient>((command) => {
    asked.push(command.input.executionArn);
    return { input: JSON.stringify(input) };
  });
  expect(await readExecutionInputOf(client, machine)('extraction-1')).toEqual(input);
  expect(asked).toEqual([
    'arn:aws:states:eu-west-1:111122223333:execution:Cosecha-prod-extractions:extraction-1',
  ]);
});
