import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { marshall } from '@aws-sdk/util-dynamodb';
import { selfSignedCertificate } from '../../support/self-signed-certificate.ts';

const extractionId = 'extraction-1';
const taskId = 'task-1';
const hour = 3_600_000;
const at = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();

const record = {
  schemaVersion: 1,
  extractionId,
  requestedBy: 'arn:aws:iam::111122223333:role/Caller',
  requestId: 'request-1',
  fingerprint: 'fingerprint',
  method: 'credentials',
  entity: 'bank',
  actions: [{ id: 'movement' }],
  status: 'RUNNING',
  taskId,
  requestedAt: at(-hour / 4),
  startedAt: at(-hour / 4),
  deadlineAt: at(hour),
  dueShard: 3,
  dueAt: at(-1_000),
};

type Sent = { readonly TableName?: string; readonly UpdateExpression?: string };

/** The answers of AWS to the reconcile of one running extraction: a settle, the results, and a close. */
const answerAws = (target: string, body: string): object => {
  const operation = target.split('.').at(-1);
  if (operation === 'GetSecretValue') return { SecretString: 'an-api-key' };
  const { TableName = '' } = body === '' ? {} : (JSON.parse(body) as Sent);
  if (operation === 'GetItem') {
    if (TableName.includes('Breakers')) return {};
    return { Item: marshall(TableName.includes('Tasks') ? { taskId, extractionId } : record) };
  }
  return operation === 'UpdateItem'
    ? { Attributes: marshall({ ...record, status: 'COMPLETED', settledAt: at(0) }) }
    : {};
};

/**
 * A local server with TLS that plays the provider and AWS for one extraction. The provider answers a read with the bytes
 * of `answerWith`.
 */
export const startWorld = async () => {
  let answer: Buffer = Buffer.alloc(0);
  let stored: number | undefined;
  const { key, cert } = selfSignedCertificate();
  const server = createServer({ key, cert }, async (incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    let size = 0;
    const first: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size < 65_536) first.push(chunk);
    }
    if (url.startsWith('/api/')) {
      outgoing.end(url.endsWith('/auth/login') ? '{"token":"a-session-token"}' : answer);
    } else if (method === 'PUT') {
      stored = Number(headers['x-amz-decoded-content-length'] ?? size);
      outgoing.end();
    } else {
      const body = Buffer.concat(first).toString();
      outgoing.setHeader('content-type', 'application/x-amz-json-1.0');
      outgoing.end(JSON.stringify(answerAws(String(headers['x-amz-target'] ?? ''), body)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    answerWith: (bytes: Buffer): void => {
      answer = bytes;
    },
    /** How many bytes were stored as results, and forgets it. */
    take: () => {
      const taken = stored;
      stored = undefined;
      return { stored: taken };
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
