import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../../../../tools/cli/aws/deployment.ts';
import {
  claimLocalDeployment,
  emulatorApiUrl,
  readLocalDeployment,
  removeLocalDeployment,
  toEmulatorUrl,
} from '../../../../../tools/cli/aws/local-deployment.ts';
import { CliError, UsageError } from '../../../../../tools/cli/terminal/errors.ts';
import { repository } from '../../../../../tools/local/paths.ts';

/** CloudFormation's query protocol for DescribeStacks. It has the stack Cosecha-local while `deployed`. */
let deployed: boolean;
beforeEach(() => {
  deployed = true;
});
const cloudFormation = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const outputs = {
    BankApiId: 'embedded1',
    BankWebhookUrl: 'https://api.example/webhooks/provider',
    ApiId: 'abc123',
    WebhookUrl: 'https://api.example/webhooks/provider',
    Empty: '',
  };
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  if (deployed && /StackName=(Cosecha-local|Banking)(&|$)/.test(body)) {
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

const root = mkdtempSync(join(tmpdir(), 'cosecha-deployment-'));
mkdirSync(join(root, '.cosecha'));
afterAll(() => {
  cloudFormation.close();
  rmSync(root, { recursive: true });
});

const options = { stage: 'local', region: undefined, profile: undefined, endpoint: undefined, root };
const serving = async (at: string) => {
  rmSync(join(root, '.cosecha', 'running.json'), { force: true });
  await claimLocalDeployment(root, {
    endpoint: at,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
};

type Over = { readonly stage?: string | undefined; readonly region?: string; readonly profile?: string };
const failureOf = async (over: Over) =>
  connect({ ...options, ...over }).then(
    () => new Error('It connected.'),
    (error: unknown) => error as Error,
  );

const omitted = 'Omit --region and --profile';

test.each([
  ['no stage', { stage: undefined }, 'No stage is set.'],
  ['an invalid stage', { stage: 'Prod!' }, '"Prod!" is not a stage'],
  ['--region, which the stage local would ignore,', { region: 'eu-west-1' }, omitted],
  ['--profile, which the stage local would ignore,', { profile: 'mine' }, omitted],
])('%s is a usage error', async (_, over, message) => {
  const failure = await failureOf(over);
  expect(failure).toBeInstanceOf(UsageError);
  expect(failure.message).toContain(message);
});

test('without a deployment the remedy is npm start, also for one that was ended before it could clean up', async () => {
  rmSync(join(root, '.cosecha', 'running.json'), { force: true });
  const failure = await failureOf({});
  expect(failure).toBeInstanceOf(CliError);
  expect(failure.message).toContain('The local deployment is not running. Run `npm start`');
  await serving('http://127.0.0.1:9');
  expect((await failureOf({})).message).toContain('Nothing answers at http://127.0.0.1:9');
});

describe('the deployment of npm start', () => {
  test('is found by the file it wrote, with its API by path', async () => {
    await serving(endpoint);
    const deployment = await connect(options);
    expect(deployment).toMatchObject({
      stackName: 'Cosecha-local',
      stackStatus: 'CREATE_COMPLETE',
      isEmulated: true,
      api: {
        base: `${endpoint}/_aws/execute-api/abc123/$default`,
        webhookUrl: `${endpoint}/_aws/execute-api/abc123/$default/webhooks/provider`,
      },
    });
    expect(() => deployment.output('Empty')).toThrow('has no output Empty');
  });

  test('is found in a stack of another name, under the id of its construct', async () => {
    await serving(endpoint);
    const deployment = await connect({ ...options, stack: 'Banking/Bank' });
    expect(deployment).toMatchObject({
      name: 'Cosecha-local',
      stackName: 'Banking',
      api: { base: `${endpoint}/_aws/execute-api/embedded1/$default` },
    });
    expect(() => deployment.output('Empty')).toThrow('has no output BankEmpty');
  });

  test('is distinguished from a stack that does not exist', async () => {
    await serving(endpoint);
    deployed = false;
    const { message } = await failureOf({});
    expect(message).toContain('There is no stack Cosecha-local in eu-west-1');
    expect(message).toContain('add --stack <stack name>/<construct id>');
  });
});

describe('local-deployment', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cosecha-running-'));
  mkdirSync(join(root, '.cosecha'));
  const file = join(root, '.cosecha', 'running.json');
  afterEach(() => rmSync(file, { force: true }));

  const listening = async () => {
    const server = createServer((_request, response) => response.writeHead(503).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const deployment = {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      apiUrl: 'http://127.0.0.1:4566/_aws/execute-api/abc123/$default',
      sandboxControlUrl: 'http://127.0.0.1:4010/_sandbox',
    };
    return { server, deployment };
  };

  const { server: ending, deployment: ended } = await listening();
  const { server: emulator, deployment: serving } = await listening();
  await new Promise((resolve) => ending.close(resolve));
  afterAll(() => emulator.close());

  test('a claimed deployment is read again, from a file that only its owner can read', async () => {
    writeFileSync(file, 'of another run', { mode: 0o644 });
    expect(await claimLocalDeployment(root, ended)).toBeUndefined();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readLocalDeployment(root)).toEqual(ended);
  });

  test('the lines of docs/api.md take the address of the API and the credentials from it', async () => {
    await claimLocalDeployment(root, ended);
    const [, lines = ''] =
      /^(served\(\)[\s\S]*?)^```$/m.exec(readFileSync(join(repository, 'docs/api.md'), 'utf8')) ?? [];
    const { stdout } = spawnSync('bash', ['-c', `${lines}\nenv`], { cwd: root, encoding: 'utf8' });
    const { apiUrl, region, credentials } = ended;
    const { accessKeyId, secretAccessKey } = credentials;
    const [ids, place] = [`AWS_ACCESS_KEY_ID=${accessKeyId}`, `AWS_REGION=${region}`];
    const expected = [`API_URL=${apiUrl}`, place, ids, `AWS_SECRET_ACCESS_KEY=${secretAccessKey}`];
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(expected));
  });

  test('a deployment that serves keeps the file, and one that has ended does not', async () => {
    await claimLocalDeployment(root, ended);
    expect(await claimLocalDeployment(root, serving)).toBeUndefined();
    expect(await claimLocalDeployment(root, ended)).toEqual(serving);
    expect(await readLocalDeployment(root)).toEqual(serving);
  });

  test('the file is removed, but not that of another deployment', async () => {
    await claimLocalDeployment(root, ended);
    await removeLocalDeployment(root, serving);
    expect(await readLocalDeployment(root)).toEqual(ended);
    await removeLocalDeployment(root, ended);
    expect(await readLocalDeployment(root)).toBeUndefined();
  });

  test('a file with other content is ignored', async () => {
    writeFileSync(file, '{"endpoint": 5}');
    expect(await readLocalDeployment(root)).toBeUndefined();
  });
});

test('an address of the API has the emulator as its host and keeps its path', () => {
  const base = emulatorApiUrl('http://127.0.0.1:4566', 'abcd1234');
  const onAws = 'https://abcd1234.execute-api.us-east-1.amazonaws.com';
  expect(toEmulatorUrl(base, `${onAws}/webhooks/provider`)).toBe(`${base}/webhooks/provider`);
  expect(toEmulatorUrl(base, onAws)).toBe(base);
});
