/**
 * A stub of AWS for the measured webhook handler. It runs in its own process, answers the webhook's calls as the services
 * do, and stores nothing. It sends its port to its parent, and ends with it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { marshall } from '@aws-sdk/util-dynamodb';
import { measuredExtraction, measuredKey, measuredTables } from './measured-webhook.ts';

type Asked = { TableName?: string; Key?: { taskId?: { S?: string } }; VersionStage?: string };

type Answer = { readonly status: number; readonly body: unknown };

/** A callback token of about 700 characters, as Step Functions issues them. */
const callbackToken = 't'.repeat(700);

const answerTo = (operation: string, asked: Asked): Answer => {
  switch (operation) {
    case 'DynamoDB_20120810.UpdateItem': {
      const item =
        asked.TableName === measuredTables.tasks
          ? {
              taskId: asked.Key?.taskId?.S,
              extractionId: measuredExtraction.extractionId,
              callbackToken,
              callbackAttempt: 0,
              taskStatus: 'COMPLETED',
              notifiedAt: '2026-01-01T12:01:00.000Z',
              expiresAt: 1_800_000_000,
            }
          : measuredExtraction;
      return { status: 200, body: { Attributes: marshall(item) } };
    }
    case 'AmazonSQS.SendMessage':
      return { status: 200, body: { MessageId: measuredExtraction.requestId } };
    case 'AWSStepFunctions.SendTaskSuccess':
      return { status: 200, body: {} };
    case 'secretsmanager.GetSecretValue':
      return asked.VersionStage === 'AWSCURRENT'
        ? { status: 200, body: { SecretString: measuredKey } }
        : { status: 400, body: { __type: 'ResourceNotFoundException', message: 'No such label.' } };
    default:
      return { status: 501, body: { __type: 'NotImplemented', message: operation } };
  }
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
    const { status, body } = answerTo(String(request.headers['x-amz-target']), asked);
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
