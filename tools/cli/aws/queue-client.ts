import { SQSClient } from '@aws-sdk/client-sqs';
import type { Deployment } from './deployment.ts';

/**
 * By default the SDK calls the host in the queue's URL, whatever the endpoint. An emulator's host does not resolve, or is
 * localhost, to which a busy machine fails to connect while ::1 is tried.
 */
export const queueClient = ({ client, isEmulated }: Pick<Deployment, 'client' | 'isEmulated'>): SQSClient =>
  new SQSClient({ ...client, useQueueUrlAsEndpoint: !isEmulated });
