import { DescribeStateMachineCommand, ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { type Finding, failed, passed } from './finding.ts';

const DAY_MS = 86_400_000;
const brokenStatuses = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;

/** Of each status: more need not be counted. */
const mostCounted = 100;

/** Fails unless the machine is ACTIVE. Counts the executions that broke within a day, which the sweep queues. */
export const checkMachine = async (
  client: SFNClient,
  stateMachineArn: string,
  now: Date,
): Promise<Finding> => {
  const { status } = await client.send(new DescribeStateMachineCommand({ stateMachineArn }));
  if (status !== 'ACTIVE') {
    return failed(`machine is ${String(status)}`, 'Nothing can be started. Deploy the stack again.');
  }
  const broken = await Promise.all(
    brokenStatuses.map(async (statusFilter) => {
      const { executions = [] } = await client.send(
        new ListExecutionsCommand({ stateMachineArn, statusFilter, maxResults: mostCounted }),
      );
      return executions.filter(({ stopDate }) => (stopDate?.getTime() ?? 0) > now.getTime() - DAY_MS).length;
    }),
  );
  const count = broken.reduce((sum, each) => sum + each, 0);
  if (count === 0) return passed('machine is ACTIVE, and no execution broke within a day');
  const executions = count === 1 ? '1 execution' : `${count} executions`;
  return passed(`machine is ACTIVE; ${executions} broke within a day, which the sweep queues`);
};
