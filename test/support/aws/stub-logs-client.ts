import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { stubClient } from './stub-client.ts';

/** A CloudWatch Logs client with these answers. The SDK's paginators take instances of the client's class only. */
export const stubLogsClient = (answer: () => unknown) => {
  const { client, sent } = stubClient<CloudWatchLogsClient>(answer);
  return {
    client: Object.setPrototypeOf(client, CloudWatchLogsClient.prototype) as CloudWatchLogsClient,
    sent,
  };
};
