import { CloudFormationClient, type DescribeStackEventsCommand } from '@aws-sdk/client-cloudformation';
import { expect, test } from 'vitest';
import { explainFailedDeployment } from '../../../infra/explain-failed-deployment.ts';

/** The events of a stack, the newest first, in pages. */
const explain = (
  ...pages: readonly (readonly (readonly [type: string, status: string, reason?: string])[])[]
) => {
  const client = new CloudFormationClient({ region: 'eu-west-1' });
  client.send = (async (command: DescribeStackEventsCommand) => {
    const page = Number(command.input.NextToken ?? 0);
    const events = (pages[page] ?? []).map(([ResourceType, ResourceStatus, ResourceStatusReason]) => ({
      ...{ ResourceType, ResourceStatus, ResourceStatusReason },
    }));
    return { StackEvents: events, NextToken: page + 1 < pages.length ? String(page + 1) : undefined };
  }) as unknown as typeof client.send;
  return explainFailedDeployment(client, 'Cosecha-prod');
};

const stack = 'AWS::CloudFormation::Stack';
const pipe = 'AWS::Pipes::Pipe';
const reason =
  'Resource handler returned message: "The provided customer role does not have permissions to call DescribeStream on DynamoDB"';
const failed = [pipe, 'CREATE_FAILED', reason] as const;
const begun = [stack, 'CREATE_IN_PROGRESS', 'User Initiated'] as const;

test('a pipe whose role was too new is worth another try', async () => {
  const rolledBack = [stack, 'ROLLBACK_COMPLETE'] as const;
  expect(await explain([rolledBack], [failed, begun])).toMatch(/^Cosecha-prod failed .* Run it again\.$/);
});

test('any other failure is not, nor one of an earlier deployment', async () => {
  const queue = ['AWS::SQS::Queue', 'CREATE_FAILED', reason] as const;
  const invalid = [pipe, 'CREATE_FAILED', 'Invalid input template'] as const;
  expect(await explain([queue, invalid, begun])).toBeUndefined();
  expect(await explain([queue, [stack, 'UPDATE_IN_PROGRESS']], [failed, begun])).toBeUndefined();
});
