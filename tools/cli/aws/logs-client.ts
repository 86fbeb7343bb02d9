import { CloudWatchLogsClient, type CloudWatchLogsClientConfig } from '@aws-sdk/client-cloudwatch-logs';

/**
 * With more tries than the SDK's three. FilterLogEvents allows 5 to 25 calls a second, depending on the region
 * (https://docs.aws.amazon.com/general/latest/gr/cwl_region.html), and the logs of seven functions are read at once.
 */
export const logsClient = (client: CloudWatchLogsClientConfig): CloudWatchLogsClient =>
  new CloudWatchLogsClient({ ...client, maxAttempts: 10 });
