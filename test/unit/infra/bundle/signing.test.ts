import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AwsV4Signer } from 'aws4fetch';
import { afterAll, expect, test } from 'vitest';
import { bundleFunctions } from '../../../../infra/bundle/bundle-functions.ts';
import { type AwsRequest, startAwsStub } from '../../../bench/cold/aws-stub.ts';
import { answerDelivery, callsOfDelivery, delivery } from '../../../bench/cold/first-delivery.ts';

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-signing-'));
afterAll(() => rmSync(workspace, { recursive: true }));

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'a+session/token=of+Lambda',
};

const environment = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_SESSION_TOKEN: credentials.sessionToken,
  EXTRACTIONS_TABLE: 'Extractions',
  TASKS_TABLE: 'Tasks',
  WEBHOOK_SIGNING_KEY_SECRET: 'webhook-signing-key',
  SIGNING_KEY_REFRESH_SECONDS: '15',
  POLL_EVERY_SECONDS: '120',
  RECONCILE_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/111122223333/reconcile',
  POWERTOOLS_METRICS_NAMESPACE: 'Cosecha/test',
};

/** The expected signature over the signed headers of the request, computed by another implementation. */
const signatureOf = async ({ url, headers, body }: AwsRequest): Promise<string | null> => {
  const authorization = headers.authorization ?? '';
  const [, scope = ''] = /Credential=AKIDEXAMPLE\/(\S+),/.exec(authorization) ?? [];
  const [, region = '', service = ''] = scope.split('/');
  const [, signed = ''] = /SignedHeaders=([^,]+),/.exec(authorization) ?? [];
  const names = signed.split(';').filter((name) => name !== 'host' && name !== 'x-amz-security-token');
  const signer = new AwsV4Signer({
    ...credentials,
    url,
    method: 'POST',
    body,
    region,
    service,
    datetime: String(headers['x-amz-date']),
    headers: names.map((name): [string, string] => [name, String(headers[name])]),
    allHeaders: true,
  });
  return (await signer.sign()).headers.get('authorization');
};

test("the webhook's bundle signs every call with the credentials of its environment, session token included", async () => {
  const stub = await startAwsStub(answerDelivery);
  try {
    const certificate = join(workspace, 'aws.pem');
    writeFileSync(certificate, stub.certificate);
    const { code } = await bundleFunctions(join(workspace, 'functions'));
    const script = `require(${JSON.stringify(join(code['receive-webhook'], 'index.js'))})
      .handler(${JSON.stringify(delivery)}, {})
      .then(({ statusCode }) => { console.log(statusCode); process.exit(); });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
      env: { ...environment, AWS_ENDPOINT_URL: stub.endpoint, NODE_EXTRA_CA_CERTS: certificate },
    });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('204');

    const requests = stub.take();
    expect(requests.map(({ target }) => target)).toEqual(callsOfDelivery);
    for (const request of requests) {
      const { authorization } = request.headers;
      expect(request.headers['x-amz-security-token']).toBe(credentials.sessionToken);
      expect(authorization).toContain('x-amz-security-token');
      expect(authorization).toBe(await signatureOf(request));
    }
  } finally {
    await stub.close();
  }
});
