import { logMessages } from '../../../lib/observability/log-messages.ts';
import type { Bounded, Deployment } from './deployment.ts';
import { type LoggedFields, logGroupsOf, logsClient, readFunctionLog } from './logs.ts';

/** What the log of receive-webhook has of a delivery whose signature was compared with our keys. */
export type CheckedDelivery = {
  readonly at: string;
  /** The version of the key that verified it. Undefined: none did, so that nobody knows whether the provider sent it. */
  readonly verifiedBy: string | undefined;
};

const { deliveryReceived, deliveryRefused } = logMessages;

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
const filterPattern = `{ ($.message = "${deliveryReceived}") || (($.message = "${deliveryRefused}") && ($.reason = "mismatch")) }`;

/** A delivery that was verified before versions were logged shows nothing. */
const parseDelivery = ({ timestamp: at, message, reason, keyVersion }: LoggedFields) => {
  if (typeof at !== 'string') return undefined;
  if (message === deliveryRefused && reason === 'mismatch') return { at, verifiedBy: undefined };
  return message === deliveryReceived && typeof keyVersion === 'string'
    ? { at, verifiedBy: keyVersion }
    : undefined;
};

/** The newest first, and at most some thousand of them. Throws the SDK's errors. */
export const readDeliveries = async (
  { client, resources }: Pick<Deployment, 'client' | 'resources'>,
  since: Date,
): Promise<Bounded<CheckedDelivery>> => {
  const [logGroupName] = await logGroupsOf(['receive-webhook'], { resources });
  if (logGroupName === undefined) return { items: [], complete: true };
  return readFunctionLog(
    logsClient(client),
    { logGroupName, filterPattern, since, mayBeMissing: true },
    parseDelivery,
  );
};
