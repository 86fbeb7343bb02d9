import { createHash } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '#lib/extraction/record.ts';
import { extractionIn } from '../../support/data/extraction-fixtures.ts';
import { signatureHeader } from '../../support/data/signature-header.ts';
import { taskTokenCharacters } from '../assumptions.ts';
import type { AwsAnswer, AwsRequest } from './aws-stub.ts';

const signingKey = 'a-signing-key-of-ordinary-length-0123456789';
const extractionId = '0190a0b0-7c5e-7d2a-9a51-8e1c5b1c0a01';
const taskId = 'ef44eb6e-cd7b-4d42-8792-b25dfc1495c6';
const body = JSON.stringify({ taskId, taskStatus: 'COMPLETED' });

/** A delivery as API Gateway's event. */
export const delivery = {
  version: '2.0',
  rawPath: '/webhooks/provider',
  headers: {
    'content-type': 'application/json',
    'x-service-signature': signatureHeader(body, signingKey),
  },
  requestContext: { http: { method: 'POST', path: '/webhooks/provider' } },
  body,
  isBase64Encoded: false,
};

/** The calls to AWS of a delivery that is verified, recorded, queued for collection, and wakes its machine. */
export const callsOfDelivery = [
  'secretsmanager.GetSecretValue',
  'secretsmanager.GetSecretValue',
  'DynamoDB_20120810.UpdateItem',
  'DynamoDB_20120810.UpdateItem',
  'AmazonSQS.SendMessage',
  'AWSStepFunctions.SendTaskSuccess',
];

/** The record after the webhook's write. */
const settledExtraction: Extraction = extractionIn('COMPLETED', { extractionId, taskId });

const linkedTask = {
  taskId,
  extractionId,
  callbackAttempt: 0,
  taskStatus: 'COMPLETED',
  callbackToken: 't'.repeat(taskTokenCharacters),
};

/** The client compares the hash of what it sent. */
const md5Of = (asked: string): string =>
  createHash('md5')
    .update((JSON.parse(asked) as { readonly MessageBody: string }).MessageBody)
    .digest('hex');

/** The answers of AWS to a delivery: one signing key, a linked task, a settled record. */
export const answerDelivery = ({ target, body: asked }: AwsRequest): AwsAnswer => {
  if (target === 'secretsmanager.GetSecretValue') {
    return asked.includes('AWSPREVIOUS')
      ? { status: 400, body: { __type: 'ResourceNotFoundException', Message: 'There is none.' } }
      : { status: 200, body: { SecretString: signingKey } };
  }
  if (target === 'AmazonSQS.SendMessage') {
    return { status: 200, body: { MessageId: 'a-message', MD5OfMessageBody: md5Of(asked) } };
  }
  if (target !== 'DynamoDB_20120810.UpdateItem') return { status: 200, body: {} };
  const item = asked.includes('notifiedAt') ? linkedTask : settledExtraction;
  return { status: 200, body: { Attributes: marshall(item) } };
};
