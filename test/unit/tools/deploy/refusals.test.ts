import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, type DescribeStackEventsCommand } from '@aws-sdk/client-cloudformation';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import { findExampleProvider, refuseLocalOnAws } from '../../../../infra/refuse-local-on-aws.ts';
import { refuseWrongEnvironment } from '../../../../infra/refuse-wrong-environment.ts';
import { readConfig, reservedConcurrency } from '../../../../infra/settings/config.ts';
import { ConfigError } from '../../../../infra/settings/config-error.ts';
import { explainFailedDeployment } from '../../../../tools/deploy/explain-failed-deployment.ts';
import { findBootstrapProblem } from '../../../../tools/deploy/find-bootstrap-problem.ts';
import { findEmptySecrets } from '../../../../tools/deploy/find-empty-secrets.ts';
import { findQuotaProblem, unreservedAtLeast } from '../../../../tools/deploy/find-quota-problem.ts';
import { findVersionProblem } from '../../../../tools/deploy/find-version-problem.ts';
import { stepsAfterDeploy } from '../../../../tools/deploy/next-steps.ts';
import { repository } from '../../../../tools/local/paths.ts';
import { fail, stubClient } from '../../../support/aws/stub-client.ts';
import { temporaryDirectory } from '../../../support/programs/temporary-directory.ts';
import { read } from '../../docs/pages.ts';
import { required } from '../../infra/synth.ts';

const local = readConfig({ stage: 'local', providerBaseUrl: 'http://127.0.0.1:8080' });
const another = readConfig({ stage: 'local-bank', providerBaseUrl: 'http://127.0.0.1:8080' });
const prod = readConfig(required);
const CDK_DEFAULT_ACCOUNT = '111122223333';

test.each([local, another])(
  'the stage $stage for emulators is refused without one, by the CDK CLI',
  (config) => {
    expect(() => refuseLocalOnAws(config, { CDK_DEFAULT_ACCOUNT })).toThrow(ConfigError);
    // It has not found the account, and goes on to deploy.
    expect(() => refuseLocalOnAws(config, { CDK_OUTDIR: 'cdk.out' })).toThrow(
      'AWS_ENDPOINT_URL names no emulator',
    );
  },
);

test('it is accepted with an emulator and without an account, and every other stage with one', () => {
  refuseLocalOnAws(local, { CDK_OUTDIR: 'cdk.out', AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' });
  refuseLocalOnAws(local, {});
  refuseLocalOnAws(prod, { CDK_DEFAULT_ACCOUNT, CDK_OUTDIR: 'cdk.out' });
});

describe('refuse-wrong-environment', () => {
  const config = readConfig({
    ...required,
    domainName: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
    alarmTopicArn: 'arn:aws:sns:eu-west-1:444455556666:on-call',
    readers: 'arn:aws:iam::111122223333:role/auditor',
  });

  test('a topic and a certificate of another region than the stack are refused, each by its name', () => {
    const deploy = () =>
      refuseWrongEnvironment(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'us-east-1' });
    expect(deploy).toThrow(ConfigError);
    expect(deploy).toThrow('Setting certificateArn is in eu-west-1, but the stack goes to us-east-1');
    expect(deploy).toThrow('Setting alarmTopicArn is in eu-west-1');
  });

  test('a reader of another account, whom the API would never let in, is refused', () => {
    const reader = readConfig({ ...required, readers: 'arn:aws:iam::444455556666:role/auditor' });
    expect(() =>
      refuseWrongEnvironment(reader, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'eu-west-1' }),
    ).toThrow('Setting readers names arn:aws:iam::444455556666:role/auditor, but the stack goes to account');
  });

  test.each(['cn-north-1', 'us-gov-west-1', 'eu-isoe-west-1', 'eusc-de-east-1'])(
    'a region of another partition is refused: %s',
    (region) => {
      expect(() => refuseWrongEnvironment(prod, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: region })).toThrow(
        `The region ${region} is not supported`,
      );
    },
  );

  test('their own account and region are taken, and any where nothing is deployed to AWS', () => {
    refuseWrongEnvironment(config, { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION: 'eu-west-1' });
    refuseWrongEnvironment(config, { CDK_DEFAULT_REGION: 'us-east-1' });
    refuseWrongEnvironment(config, {
      CDK_DEFAULT_ACCOUNT,
      CDK_DEFAULT_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
    });
  });
});

/** The events of a stack, the newest first, in pages. */
const explain = (
  ...pages: readonly (readonly (readonly [type: string, status: string, reason?: string])[])[]
) => {
  const client = new CloudFormationClient({ region: 'eu-west-1' });
  client.send = (async (command: DescribeStackEventsCommand) => {
    const page = Number(command.input.NextToken ?? 0);
    const events = (pages[page] ?? []).map(([ResourceType, ResourceStatus, ResourceStatusReason]) => ({
      ResourceType,
      ResourceStatus,
      ResourceStatusReason,
    }));
    return { StackEvents: events, NextToken: page + 1 < pages.length ? String(page + 1) : undefined };
  }) as unknown as typeof client.send;
  return explainFailedDeployment(client, 'Cosecha-prod');
};

const stack = 'AWS::CloudFormation::Stack';
const reason =
  'Policy contains a statement with one or more invalid principals. (Service: Kms, Status Code: 400)';
const key = 'AWS::KMS::Key';
const failed = [key, 'CREATE_FAILED', reason] as const;
const begun = [stack, 'CREATE_IN_PROGRESS', 'User Initiated'] as const;

test('a seal key whose roles were too new is worth another try', async () => {
  const sentence = /^Cosecha-prod failed because the new roles of the seal key .* Run it again\.$/;
  expect(await explain([failed, begun])).toMatch(sentence);
});

test('any other failure is not, nor one of an earlier deployment', async () => {
  const queue = ['AWS::SQS::Queue', 'CREATE_FAILED', reason] as const;
  const invalid = [key, 'CREATE_FAILED', 'Invalid description'] as const;
  expect(await explain([queue, invalid, begun])).toBeUndefined();
  expect(await explain([queue, [stack, 'UPDATE_IN_PROGRESS']], [failed, begun])).toBeUndefined();
});

const outputs = {
  FillProviderApiKey: 'fill-api-key',
  FillWebhookSigningKey: 'fill-signing-key',
  WebhookUrl: 'https://api.example/webhooks/provider',
};

const both = ['provider-api-key', 'webhook-signing-key'] as const;

test('a deployment ends with numbered steps, which name the outputs of the stack', () => {
  const text = stepsAfterDeploy('Cosecha-prod', outputs, both).join('\n');
  expect(text.match(/^\d\. /gm)).toHaveLength(5);
  for (const output of Object.values(outputs)) expect(text).toContain(output);
  expect(text).toContain('npm exec --no -- cosecha --stage prod doctor');
});

test('with a custom domain, its DNS record is the first step', () => {
  const steps = stepsAfterDeploy('Cosecha-prod', { ...outputs, CustomDomainTarget: 'd-1.example' }, both);
  expect(steps[1]).toMatch(/^1\. Create the DNS record .* d-1\.example$/);
});

test('a key that is filled is not asked for again, and without an empty one only the check is left', async () => {
  const stepsWith = async (filled: Readonly<Record<string, readonly string[]>>) => {
    const { client } = stubClient<SecretsManagerClient>(({ input }) => {
      const stages = filled[String(input.SecretId)];
      if (stages === undefined) throw new Error('You may not read it.');
      return { Versions: [{ VersionStages: stages }] };
    });
    return stepsAfterDeploy('Cosecha-prod', outputs, await findEmptySecrets(client, 'Cosecha-prod')).join();
  };
  const [apiKey, signingKey] = ['Cosecha-prod/provider-api-key', 'Cosecha-prod/webhook-signing-key'];
  const one = await stepsWith({ [apiKey]: ['AWSCURRENT'], [signingKey]: [] });
  expect(one).not.toContain('fill-api-key');
  expect(one).toContain('fill-signing-key');
  expect(await stepsWith({ [apiKey]: ['AWSCURRENT'] })).toContain('fill-signing-key');
  expect(await stepsWith({ [apiKey]: ['AWSCURRENT'], [signingKey]: ['AWSCURRENT'] })).toBe(
    'Cosecha-prod is deployed.,Check everything, until it prints "All checks passed.": npm exec --no -- cosecha --stage prod doctor',
  );
});

test.each([
  ['https://provider.example', 'prod', true],
  ['https://api.provider.example/v1', 'prod', true],
  ['https://provider.example.com:8443', 'prod', true],
  ['https://example.provider.cl', 'prod', false],
  ['https://myexample', 'prod', false],
  ['https://provider.example', 'local-bank', false],
])(
  'a deployment with the provider %s in the stage %s is refused as an example: %s',
  (providerBaseUrl, stage, isRefused) => {
    expect(findExampleProvider({ stage, providerBaseUrl }) !== undefined).toBe(isRefused);
  },
);

/** A fresh checkout, also where this one is a fork that has stages. */
const checkout = (): string => {
  const directory = temporaryDirectory();
  for (const name of ['infra', 'tools', 'cdk.json', 'package.json', 'node_modules'])
    symlinkSync(join(repository, name), join(directory, name));
  mkdirSync(join(directory, 'stages'));
  return directory;
};

const runIn = (cwd: string, verb: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(repository, 'tools/deploy/cdk-for-stage.ts'), verb, ...args], {
    cwd,
    env,
    encoding: 'utf8',
  });
const run = (verb: string, ...args: readonly string[]) => runIn(repository, verb, ...args);

test('npm run deploy stops at an example on its command line, which would win over the file', () => {
  const { status, stderr } = run(
    'deploy',
    '--stage',
    'prod',
    '-c',
    'providerBaseUrl=https://provider.example',
  );
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Setting providerBaseUrl is https:\/\/provider\.example, an example .*\n$/);
});

test.each(['deploy', 'diff'])('npm run %s asks for the stage, and for its file', (verb) => {
  expect(run(verb).stderr).toBe(
    `Name the stage whose settings are in stages/<stage>.json: npm run ${verb} -- --stage prod\n`,
  );
  expect(run(verb, '--stage=no-such').stderr).toContain('There is no stages/no-such.json.');
});

test('npm run synth takes no examples where a stage has settings, and asks for the stage', () => {
  const directory = checkout();
  writeFileSync(join(directory, 'stages', 'prod.json'), '{"providerBaseUrl":"https://provider.test"}');
  expect(runIn(directory, 'synth')).toMatchObject({
    status: 1,
    stderr: 'Name the stage whose settings are in stages/<stage>.json: npm run synth -- --stage prod\n',
  });
});

test('a stack of another kind has no steps', () => {
  expect(stepsAfterDeploy('Other', {}, both)).toEqual([]);
});

/** The environment of somebody who is not logged in to AWS. */
const env = {
  PATH: process.env.PATH,
  HOME: '/nowhere',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
};

test.each([
  ['deploy', '', ['--stage', 'prod', '-c', 'providerBaseUrl=https://provider.test']],
  [
    'diff',
    ' in the profile "mine"',
    ['--stage', 'prod', '-c', 'providerBaseUrl=https://provider.test', '--profile=mine'],
  ],
  ['bootstrap', '', []],
])('npm run %s without credentials%s says to log in, and does nothing', (verb, where, args) => {
  expect(run(verb, ...args)).toMatchObject({
    status: 1,
    stderr: `There are no AWS credentials${where}. Log in, or name a profile with --profile.\n`,
  });
});

const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };

/** What is found where SSM gives this answer, and the request. */
const find = async (status: number, answer: unknown, query: { readonly qualifier?: string } = {}) => {
  const requests: Request[] = [];
  const problem = await findBootstrapProblem(
    { region: 'eu-west-1', credentials, ...query },
    async (request) => {
      requests.push(request as Request);
      return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer), { status });
    },
  );
  return { problem, request: requests[0] };
};

test('an account that is not bootstrapped, or too long ago, has a problem with the command that solves it', async () => {
  const { problem, request } = await find(400, { __type: 'ParameterNotFound' });
  expect(problem).toMatch(/^The CDK has no bootstrap stack in eu-west-1 .*: npm run bootstrap$/);
  expect(request?.url).toBe('https://ssm.eu-west-1.amazonaws.com/');
  expect(await request?.json()).toEqual({ Name: '/cdk-bootstrap/hnb659fds/version' });
  const old = await find(200, { Parameter: { Value: '5' } });
  expect(old.problem).toContain('has version 5, and 6 is needed');
});

test('a bootstrapped account has none, nor one whose parameter cannot be read', async () => {
  const { problem, request } = await find(200, { Parameter: { Value: '30' } }, { qualifier: 'ours' });
  expect(problem).toBeUndefined();
  expect(await request?.json()).toEqual({ Name: '/cdk-bootstrap/ours/version' });
  expect((await find(400, { __type: 'AccessDeniedException' })).problem).toBeUndefined();
  expect((await find(503, 'Service Unavailable')).problem).toBeUndefined();
});

test('npm run synth without a stage, whose settings npm run bootstrap takes too, synthesizes a fresh checkout, where what is named wins', {
  tags: ['slow'],
}, () => {
  const directory = checkout();
  const { stdout } = runIn(directory, 'synth', '--quiet', '-c', 'providerBaseUrl=https://named.test');
  expect(stdout).toContain('Cosecha-preview.template.json. Nothing was deployed.');
  expect(stdout).toContain('1. Put the settings of a stage into stages/<stage>.json');
  const template = readFileSync(join(directory, 'cdk.out', 'Cosecha-preview.template.json'), 'utf8');
  expect(template).toContain('https://named.test');
  expect(template).not.toContain('provider.example');
});

test.each([
  [{}, 102, 103, 3],
  [{ startReservedConcurrency: 62, webhookReservedConcurrency: 24 }, 150, 189, 89],
])(
  'with the settings %j, an account that may run %i functions at once is refused',
  async (settings, quota, needed, reserved) => {
    const config = readConfig({ ...required, ...settings });
    const check = (ConcurrentExecutions: number) =>
      findQuotaProblem(
        stubClient<LambdaClient>(() => ({ AccountLimit: { ConcurrentExecutions } })).client,
        config,
      );
    expect(await check(needed)).toBeUndefined();
    const sentence = `may run ${quota} functions at once in this region. The deployment reserves ${reserved},`;
    expect(await check(quota)).toContain(sentence);
    expect(await check(quota)).toContain(`Have the quota raised to ${needed} at least`);
  },
);

test('a quota that may not be read is left to Lambda', async () => {
  const { client } = stubClient<LambdaClient>(() => fail(new Error('denied')));
  expect(await findQuotaProblem(client, prod)).toBeUndefined();
});

test('README asks for a quota that a deployment fits into, and the runbook has what is left of it to reserve', () => {
  const [, quota = ''] = /Lambda quota raised to (\d+) concurrent executions/.exec(read('README.md')) ?? [];
  const left = Number(quota) - unreservedAtLeast - reservedConcurrency(prod);
  expect(left).toBeGreaterThan(0);
  // What an entry advises fits into that, with nothing raised first.
  const advised = [...read('docs/operations.md').matchAll(/\[Reserve\]\(#reserve-concurrency\) (\d+) for/gi)];
  expect(advised.length).toBeGreaterThan(1);
  for (const [, number] of advised) expect(Number(number)).toBeLessThanOrEqual(left);
  expect(read('docs/operations.md').replaceAll('\n', ' ')).toContain(
    `of the ${quota} that README asks for, ${left} are left to reserve`,
  );
});

test.each([
  ['0.1.0-rc.1', ['ExtractionsTableName', 'ApiUrl'], true],
  ['this version', ['ExtractionsTableName', 'StartLineTableName'], false],
  ['a stack that was never made', [], false],
])('a deployment of %s is refused before anything is touched: %s, %s', async (_, outputs, isRefused) => {
  const Outputs = outputs.map((OutputKey) => ({ OutputKey, OutputValue: 'x' }));
  const client = { send: async () => ({ Stacks: [{ Outputs }] }) } as unknown as CloudFormationClient;
  const problem = await findVersionProblem(client, 'Cosecha-prod');
  expect(problem?.startsWith('Cosecha-prod is of 0.1.0-rc.1, which no later version can update.')).toBe(
    isRefused || undefined,
  );
});

test('a deployment is not refused for its version where nobody can say it', async () => {
  const client = { send: async () => fail(new Error('denied')) } as unknown as CloudFormationClient;
  expect(await findVersionProblem(client, 'Cosecha-prod')).toBeUndefined();
});
