import { DescribeStateMachineCommand, ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { type Finding, failed, passed } from './finding.ts';

const DAY_MS = 86_400_000;
const ends = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/** More than these need not be counted. */
const most = 100;

/** Whether the machine is there, and how many of its executions broke within a day: the sweep takes those up. */
export const checkMachine = async (
  client: SFNClient,
  stateMachineArn: string,
  now: Date,
): Promise<Finding> => {
  const { status } = await client.send(new DescribeStateMachineCommand({ stateMachineArn }));
  if (status !== 'ACTIVE')
    return failed(`machine is ${String(status)}`, 'Nothing can be started: deploy the stack again.');
  const broken = await Promise.all(
    ends.map(async (statusFilter) => {
      const { executions = [] } = await client.send(
        new ListExecutionsCommand({ stateMachineArn, statusFilter, maxResults: most }),
      );
      return executions.filter(({ stopDate }) => (stopDate?.getTime() ?? 0) > now.getTime() - DAY_MS).length;
    }),
  );
  const count = broken.reduce((sum, each) => sum + each, 0);
  if (count === 0) return passed('machine is ACTIVE, and no execution broke within a day');
  return passed(`machine is ACTIVE; ${count} executions broke within a day, which the sweep takes up`);
};
