import { SQSClient } from '@aws-sdk/client-sqs';
import type { Deployment } from '../deployment.ts';

/**
 * By default the SDK calls the host in the queue's URL, whatever the endpoint; an emulator's host does not resolve.
 */
export const queueClient = ({ client, isEmulated }: Pick<Deployment, 'client' | 'isEmulated'>): SQSClient =>
  new SQSClient({ ...client, useQueueUrlAsEndpoint: !isEmulated });
