import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { closedPort } from '#support/programs/closed-port.ts';
import { httpServer } from '#support/programs/stub-servers.ts';
import { connect, settingOfOutput } from '#tools/cli/aws/deployment.ts';
import {
  claimLocalDeployment,
  readLocalDeployment,
  removeLocalDeployment,
} from '#tools/cli/aws/local-deployment.ts';
import { CliError, UsageError } from '#tools/cli/terminal/errors.ts';
import { repository } from '#tools/local/paths.ts';
import { everyOption, synthesize } from '../../../infra/synth.ts';

/** CloudFormation's query protocol for DescribeStacks. There are two stacks. */
const { baseUrl: endpoint } = await httpServer((response, { body }) => {
  if (/Action=DescribeStacks.*StackName=(Cosecha-local|Banking)(&|$)/.test(body)) {
    const webhookUrl = 'https://api.example/webhooks/provider';
    const outputs = {
      ApiId: 'abc123',
      WebhookUrl: webhookUrl,
      BankApiId: 'embedded1',
      BankWebhookUrl: webhookUrl,
      BankEmpty: '',
      NorthbankdataApiId: 'embedded2',
      NorthbankdataWebhookUrl: webhookUrl,
      NorthbankdataApiUrl: 'https://north.example',
      BankTrialApiUrl: 'https://trial.example',
      BankApiUrl: 'https://bank.example',
      BankStage: 'local',
    };
    const isBanking = body.includes('StackName=Banking');
    const shown = Object.entries(outputs).filter(([key]) => /^(Bank|North)/.test(key) === isBanking);
    const members = shown.map(
      ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    response.end(
      '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Cosecha-local</StackName>' +
        '<StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime>' +
        `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
    return;
  }
  if (body.includes('Action=ListStackResources')) {
    const ids = ['BankStartTaskLog12345678', 'BankTrialStartTaskLog12345678', 'OtherLog12345678'];
    const members = ids.map(
      (id) =>
        `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>log of ${id}</PhysicalResourceId><ResourceType>AWS::Logs::LogGroup</ResourceType></member>`,
    );
    response.end(
      `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`,
    );
    return;
  }
  response.statusCode = 400;
  response.end(
    '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>' +
      '<Message>Stack does not exist</Message></Error></ErrorResponse>',
  );
});

const root = mkdtempSync(join(tmpdir(), 'cosecha-deployment-'));
mkdirSync(join(root, '.cosecha'));
const file = join(root, '.cosecha', 'running.json');
afterEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(root, { recursive: true }));

const at = (endpoint: string, pid = process.pid) => ({
  pid,
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  apiUrl: `${endpoint}/_aws/execute-api/abc123/$default`,
});
/** One that answers, and one that was ended before it could remove its file. */
const serving = at(endpoint);
const ended = at(`http://127.0.0.1:${await closedPort()}`);

const options = { stage: 'local', region: undefined, profile: undefined, endpoint: undefined, root };
const failureOf = async (over: Partial<Parameters<typeof connect>[0]>) =>
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
  const failure = await failureOf({});
  expect(failure).toBeInstanceOf(CliError);
  expect(failure.message).toContain(`No local deployment runs in this folder (${root}). Run \`npm start\``);
  expect(failure.message).toContain('If one runs in another folder, run this command there');
  await claimLocalDeployment(root, ended);
  expect((await failureOf({})).message).toContain(`Nothing answers at ${ended.endpoint}`);
});

describe('the deployment of npm start', () => {
  beforeEach(() => claimLocalDeployment(root, serving));

  test('is found by the file it wrote, with its API by path', async () => {
    const base = `${endpoint}/_aws/execute-api/abc123/$default`;
    expect(await connect(options)).toMatchObject({
      stackName: 'Cosecha-local',
      stackStatus: 'CREATE_COMPLETE',
      isEmulated: true,
      api: { base, webhookUrl: `${base}/webhooks/provider` },
    });
  });

  test('is found in a stack of another name, under the id of its construct', async () => {
    const deployment = await connect({ ...options, stack: 'Banking/Bank' });
    const api = { base: `${endpoint}/_aws/execute-api/embedded1/$default` };
    expect(deployment).toMatchObject({ name: 'Cosecha-local', stackName: 'Banking', api });
    expect(() => deployment.output('Empty')).toThrow('has no output BankEmpty');
    expect(() => deployment.output('EventBusArn')).toThrow(
      'has no output BankEventBusArn, because the setting publishEvents is off.',
    );
  });

  test('is found where its construct is in another, whose ids need not be those of outputs', async () => {
    const { api } = await connect({ ...options, stack: 'Banking/North/bank-data' });
    expect(api.base).toBe(`${endpoint}/_aws/execute-api/embedded2/$default`);
  });

  test('has the outputs and resources of its construct, and not those of others in the stack', async () => {
    const deployment = await connect({ ...options, stack: 'Banking/Bank' });
    expect(deployment.outputNames).toEqual(['ApiId', 'WebhookUrl', 'ApiUrl', 'Stage']);
    expect(await deployment.resources('AWS::Logs::LogGroup')).toEqual(['log of BankStartTaskLog12345678']);
  });

  test('is not taken for another stage, and a stack without its id is answered with the ids that it has', async () => {
    for (const [over, message] of [
      [{ stage: 'local-2', stack: 'Banking/Bank' }, 'Banking/Bank is the stage local, and not local-2.'],
      [
        { stack: 'Banking' },
        'has the form <stack name>/<construct id>. There is Banking/Northbankdata, Banking/BankTrial, Banking/Bank.',
      ],
      [{ stack: 'Banking/bank' }, 'There is no deployment Banking/bank.'],
    ] as const) {
      const failure = await failureOf(over);
      expect(failure).toBeInstanceOf(UsageError);
      expect(failure.message).toContain(message);
    }
  });

  test('is distinguished from a stack that does not exist', async () => {
    const { message } = await failureOf({ stage: 'local-2' });
    expect(message).toContain('There is no stack Cosecha-local-2 in us-east-1');
    expect(message).toContain('add --stack <stack name>/<construct id>');
  });
});

describe('local-deployment', () => {
  test('a claimed deployment is read again, from a file that only its owner can read and its run removes', async () => {
    writeFileSync(file, 'of another run', { mode: 0o644 });
    await claimLocalDeployment(root, ended);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readLocalDeployment(root)).toEqual(ended);
    await removeLocalDeployment(root, serving);
    expect(await readLocalDeployment(root)).toEqual(ended);
    await removeLocalDeployment(root, ended);
    expect(await readLocalDeployment(root)).toBeUndefined();
  });

  test('the lines of docs/api.md take the address of the API and the credentials from it', async () => {
    await claimLocalDeployment(root, ended);
    const [, lines = ''] =
      /^(served\(\)[\s\S]*?)^```$/m.exec(readFileSync(join(repository, 'docs/api.md'), 'utf8')) ?? [];
    const { stdout } = spawnSync('bash', ['-c', `${lines}\nenv`], { cwd: root, encoding: 'utf8' });
    const served = [`API_URL=${ended.apiUrl}`, `AWS_REGION=${ended.region}`];
    const keys = ['AWS_ACCESS_KEY_ID=test', 'AWS_SECRET_ACCESS_KEY=test'];
    expect(stdout.split('\n')).toEqual(expect.arrayContaining([...served, ...keys]));
  });

  test('a second npm start is refused while the first serves, with its address and how to end it', async () => {
    await claimLocalDeployment(root, ended);
    await claimLocalDeployment(root, serving);
    const refusal = await claimLocalDeployment(root, ended).catch((error: unknown) => error as Error);
    expect(refusal).toBeInstanceOf(CliError);
    expect(refusal?.message).toContain(`serves at ${endpoint}, as process ${process.pid}.`);
    expect(refusal?.message).toContain(`\`kill ${process.pid}\``);
    expect(await readLocalDeployment(root)).toEqual(serving);
  });

  test('the file of a process that was killed refuses nobody, even if its emulator still answers', async () => {
    const { pid } = spawnSync('true');
    await claimLocalDeployment(root, at(endpoint, pid));
    await claimLocalDeployment(root, serving);
    expect(await readLocalDeployment(root)).toEqual(serving);
  });

  test('a file with other content is ignored', async () => {
    writeFileSync(file, '{"endpoint": 5}');
    expect(await readLocalDeployment(root)).toBeUndefined();
  });
});

test('the outputs that only some settings add are those whose absence names the setting', () => {
  const outputsWith = (settings: Readonly<Record<string, unknown>>) =>
    Object.keys(synthesize(settings).template.findOutputs('*'));
  const always = outputsWith({});
  const added = outputsWith(everyOption).filter((name) => !always.includes(name));
  // `startsPerSecond` is no option that adds a resource.
  expect(Object.keys(settingOfOutput)).toEqual([...added, 'StartsPerSecond'].toSorted());
});

test('at an endpoint, each client of AWS goes there, and the API is at the path that is given', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  const there = { endpoint, region: 'us-east-1', apiPath: '/apis/{apiId}/live' };
  expect(await connect({ ...options, ...there })).toMatchObject({
    client: { endpoint },
    isMiniStack: false,
    api: { base: `${endpoint}/apis/abc123/live` },
  });
  const silent = { ...there, endpoint: ended.endpoint };
  expect((await failureOf(silent)).message).toContain('which AWS_ENDPOINT_URL names');
  vi.unstubAllEnvs();
});
