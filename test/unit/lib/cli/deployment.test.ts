import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { connect } from '../../../../lib/cli/deployment.ts';
import { CliError, UsageError } from '../../../../lib/cli/errors.ts';
import { writeLocalDeployment } from '../../../../lib/cli/local-deployment.ts';

/** CloudFormation's query protocol, as far as DescribeStacks needs it: it knows the one stack Cosecha-local, if any. */
let deployed = true;
const cloudFormation = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const outputs = { ApiId: 'abc123', WebhookUrl: 'https://api.example/webhooks/provider', Empty: '' };
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  if (deployed && /StackName=Cosecha-local(&|$)/.test(body)) {
    response.end(
      '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Cosecha-local</StackName>' +
        '<StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime>' +
        `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
    return;
  }
  response.statusCode = 400;
  response.end(
    '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>' +
      '<Message>Stack with id Cosecha-local does not exist</Message></Error></ErrorResponse>',
  );
});
await once(cloudFormation.listen(0, '127.0.0.1'), 'listening');
const endpoint = `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}`;

const root = mkdtempSync(join(tmpdir(), 'cosecha-system-'));
mkdirSync(join(root, '.cosecha'));
afterAll(() => {
  cloudFormation.close();
  rmSync(root, { recursive: true });
});

const nowhere = { stage: 'local', region: undefined, profile: undefined, endpoint: undefined, root };
const serving = (at: string) =>
  writeLocalDeployment(root, {
    ...{ endpoint: at, region: 'eu-west-1' },
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });

const failureOf = async (over: { readonly stage?: string | undefined }) =>
  connect({ ...nowhere, ...over }).then(
    () => new Error('It connected.'),
    (error: unknown) => error as Error,
  );

describe('without a system', () => {
  test('it is said which stage is missing, or is none', async () => {
    expect(await failureOf({ stage: undefined })).toBeInstanceOf(UsageError);
    expect((await failureOf({ stage: 'Prod!' })).message).toContain('"Prod!" is no stage');
  });

  test('it is said how to have one served', async () => {
    rmSync(join(root, '.cosecha', 'running.json'), { force: true });
    const failure = await failureOf({});
    expect(failure).toBeInstanceOf(CliError);
    expect(failure.message).toContain('Nothing is served here: run `npm start`');
  });

  test('it is said that what was served has ended without a word', async () => {
    await serving('http://127.0.0.1:9');
    expect((await failureOf({})).message).toContain('Nothing answers at http://127.0.0.1:9');
  });
});

describe('what npm start serves', () => {
  test('is found by the word it left, with its API by path', async () => {
    await serving(endpoint);
    const system = await connect(nowhere);
    expect(system).toMatchObject({
      ...{ stackName: 'Cosecha-local', stackStatus: 'CREATE_COMPLETE', isEmulated: true },
      api: {
        base: `${endpoint}/_aws/execute-api/abc123/$default`,
        webhookUrl: `${endpoint}/_aws/execute-api/abc123/$default/webhooks/provider`,
      },
    });
    expect(() => system.output('Empty')).toThrow('has no output Empty');
  });

  test('is told apart from another stack that is not there', async () => {
    await serving(endpoint);
    deployed = false;
    expect((await failureOf({})).message).toContain('There is no stack Cosecha-local in eu-west-1');
  });
});
