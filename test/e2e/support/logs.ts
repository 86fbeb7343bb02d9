import { FilterLogEventsCommand, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import { aws } from './aws.ts';

/** Every line that any function of the deployment has logged. */
export const everyLog = async (): Promise<string> => {
  const lines: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: aws.logs }, {})) {
    for (const { logGroupName } of logGroups) {
      let nextToken: string | undefined;
      do {
        const page = await aws.logs.send(new FilterLogEventsCommand({ logGroupName, nextToken }));
        lines.push(...(page.events ?? []).map(({ message }) => message ?? ''));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
    }
  }
  return lines.join('\n');
};
