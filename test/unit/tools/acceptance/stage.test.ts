import type { STSClient } from '@aws-sdk/client-sts';
/** @module-tag slow */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { stubClient } from '#support/aws/stub-client.ts';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { checks } from '#tools/acceptance/checks/checks.ts';
import { readAcceptOptions } from '#tools/acceptance/read-accept-options.ts';
import { emptyAndDestroy, refuseOtherProvider, refuseRoot } from '#tools/acceptance/run-on-aws.ts';
import { awsSettings, emulatorSettings, upgradeSettings } from '#tools/acceptance/settings.ts';
import { acceptanceSources } from '#tools/acceptance/stage.ts';
import { UsageError } from '#tools/cli/terminal/errors.ts';
import { bundle } from '../../../../infra/bundle/bundle-functions.ts';
import { flatten, functionsOf, type Resource, resourcesOf, synthesize } from '../../infra/synth.ts';
import { synthesizeStage } from './synth.ts';

/** What a template keeps when its stack is deleted. */
const keptBy = (template: Template): readonly string[] =>
  Object.entries(template.toJSON().Resources as Record<string, Resource>)
    .filter(([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete')
    .map(([id, { Type }]) => `${id} ${Type}`);

const protectionsOf = (template: Template): readonly unknown[] =>
  Object.values(resourcesOf(template, 'AWS::DynamoDB::Table')).map(
    ({ Properties }) => Properties.DeletionProtectionEnabled,
  );

test.each([
  ['accept', awsSettings],
  ['accept-ci-7', awsSettings],
  ['accept', { ...awsSettings, ...upgradeSettings, failUpdate: 'true' }],
  ['local', { ...emulatorSettings, ...upgradeSettings }],
])('everything of the stage %s, with its settings, is deleted with it', (stage, settings) => {
  const { fakeProvider, cosecha, readers, isProtected } = synthesizeStage({ stage, ...settings });
  expect(isProtected).toBe(false);
  expect([fakeProvider, cosecha, readers].flatMap(keptBy)).toEqual([]);
  expect(new Set(protectionsOf(cosecha))).toEqual(new Set([false]));
});

test.each(['prod', 'acceptance', 'local-2'])('the stage %s cannot have a fake provider', (stage) => {
  expect(() => synthesizeStage({ stage })).toThrow(`The stage "${stage}" cannot have a fake provider`);
});

test('the name of the stage alone deletes nothing', () => {
  const { template } = synthesize({ stage: 'accept' });
  expect(keptBy(template).length).toBeGreaterThan(0);
  expect(new Set(protectionsOf(template))).toEqual(new Set([true]));
});

test.each(Object.entries(acceptanceSources))('the bundle of %s has a handler', async (name, source) => {
  const { fakeProvider, readers } = synthesizeStage({ stage: 'accept' });
  const { code } = await bundle(temporaryDirectory(), { [name]: source });
  const script = `console.log(require(${JSON.stringify(join(code[name] ?? '', 'index.js'))}).handler.length)`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
    env: {
      AWS_REGION: 'eu-west-1',
      ...functionsOf(fakeProvider).get(name)?.variables,
      ...functionsOf(readers).get(name)?.variables,
    },
  });
  // As in infra/bundle/bundles.test.ts.
  expect(['0', '1', '2']).toContain(stdout.trim());
});

test('the stage is accept by default, and no real stage is taken', () => {
  expect(readAcceptOptions([])).toEqual({ stage: 'accept', settings: {}, checks });
  expect(readAcceptOptions(['-c', 'stage=accept-eu', '-c', 'sweepEveryMinutes=2'])).toMatchObject({
    stage: 'accept-eu',
    settings: { sweepEveryMinutes: '2' },
  });
  for (const stage of ['prod', 'local', 'acceptance', '']) {
    expect(() => readAcceptOptions(['-c', `stage=${stage}`]), stage).toThrow(UsageError);
  }
  expect(() => readAcceptOptions(['-c', 'nonsense'])).toThrow('It is not <setting>=<value>.');
});

test('another emulator than MiniStack is named with the path of its APIs, and never taken for AWS', () => {
  const env = { AWS_ENDPOINT_URL: 'https://127.0.0.1:4566' };
  const ofApi = ['--api-path', '/apis/{apiId}'];
  expect(readAcceptOptions(ofApi, env)).toMatchObject({ stage: 'local', apiPath: '/apis/{apiId}' });
  expect(() => readAcceptOptions(ofApi, {})).toThrow('AWS_ENDPOINT_URL is not set');
  expect(() => readAcceptOptions([], env)).toThrow('AWS_ENDPOINT_URL names an emulator. Say with --api-path');
  expect(() => readAcceptOptions(['--api-path', '/apis'], env)).toThrow('contain {apiId} once');
  expect(readAcceptOptions(['--emulator'], env)).toMatchObject({ emulator: true });
});

test('a kept stage is checked again, as a whole or in part', () => {
  const options = readAcceptOptions(['--again', '--only', 'cost, erase', '--json']);
  expect(options).toMatchObject({ again: true, json: true });
  expect(options === 'help' ? [] : options.checks.map(({ id }) => id)).toEqual(['erase', 'cost']);
  const without = readAcceptOptions(['--only', 'cost,erase', '--skip', 'cost']);
  expect(without === 'help' ? [] : without.checks.map(({ id }) => id)).toEqual(['erase']);
});

test('an unknown check, or two ways to run, are refused before anything is deployed', () => {
  expect(() => readAcceptOptions(['--only', 'cost,nonsense'])).toThrow(
    'There is no check nonsense. The checks: outcomes-plain,',
  );
  const conflict = "option '--again' cannot be used with option '--destroy'";
  expect(() => readAcceptOptions(['--again', '--destroy'])).toThrow(conflict);
  expect(readAcceptOptions(['--emulator', '--upgrade', 'v1'])).toMatchObject({ upgrade: 'v1' });
  expect(() => readAcceptOptions(['--upgrade', '--again'])).toThrow('cannot be used');
});

const { fakeProvider, readers } = synthesizeStage({ stage: 'accept', publishEvents: 'true' });

type Policy = { readonly Statement: readonly { readonly Action: unknown; readonly Resource: unknown }[] };

/** What the policies of the roles allow, whose ids begin so. */
const rightsIn = (template: Template, role: string): readonly string[] =>
  Object.values(resourcesOf(template, 'AWS::IAM::Policy'))
    .filter(({ Properties }) => flatten(Properties.Roles).startsWith(`<${role}`))
    .flatMap(({ Properties }) => (Properties.PolicyDocument as Policy).Statement)
    .flatMap(({ Action, Resource }) => {
      const resources = [Resource].flat().map(flatten);
      return resources.flatMap((resource) => [Action].flat().map((action) => `${action} ${resource}`));
    })
    .toSorted();

test('another caller may read extractions, and nothing else', () => {
  expect(rightsIn(readers, 'Stranger')).toEqual([
    'execute-api:Invoke arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:*/$default/GET/extractions/*',
  ]);
});

test('the fake provider may read its two secrets, use its queue and write its log, and nothing else', () => {
  const secret =
    'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Cosecha-accept-fake-provider';
  expect(rightsIn(fakeProvider, '')).toEqual([
    ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} <FakeProviderLog.Arn>`),
    ...['registration', 'token-key'].map((name) => `secretsmanager:GetSecretValue ${secret}/${name}-??????`),
    ...['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage', 'SendMessage'].map(
      (action) => `sqs:${action} <Deliveries.Arn>`,
    ),
  ]);
});

test('any other emulator gets the template of AWS, under the name of its stage', () => {
  const [there, onAws] = ['local', 'accept'].map((stage) => {
    const settings = { stage, apiPath: '/{apiId}', publishEvents: 'true' };
    const { cosecha: template, readers: reading } = synthesizeStage(settings);
    // The commands to fill a secret name the region, except for a local stage.
    const shown = [template, reading].map((one) => {
      const { Outputs = {}, ...rest } = one.toJSON();
      return [rest, Object.entries(Outputs).filter(([name]) => !name.startsWith('Fill'))];
    });
    // CDK puts a hash behind a name that contains that of the stack.
    return JSON.stringify(shown)
      .replaceAll(stage, '…')
      .replace(/(?<=[a-z])[0-9A-F]{8,16}(?=")/g, '');
  });
  expect(there).toBe(onAws);
});

test.each([
  ['deleted at once', [0], 0],
  ['deleted at the second time, as a function wrote to an emptied bucket', [1, 0], 0],
  ['left where that fails too', [1, 1], 1],
])('the stage is %s', async (_, codes, code) => {
  const done: string[] = [];
  const left = [...codes];
  const result = await emptyAndDestroy({
    empty: async () => void done.push('empty'),
    destroy: async () => {
      done.push('destroy');
      return left.shift() ?? 0;
    },
  });
  expect(result).toBe(code);
  expect(done).toEqual(codes.flatMap(() => ['empty', 'destroy']));
});

test('the root user is refused before anything is deployed, as it may assume no role', async () => {
  const refuseAs = (Arn: string) => refuseRoot(stubClient<STSClient>(() => ({ Arn })).client);
  await expect(refuseAs('arn:aws:iam::111122223333:root')).rejects.toThrow('credentials of the root user');
  await refuseAs('arn:aws:iam::111122223333:user/root');
  await refuseAs('arn:aws:sts::111122223333:assumed-role/Administrator/root');
});

/** Where only these stacks exist. */
const refuse = (...stacks: readonly string[]) =>
  refuseOtherProvider('accept', async (name) =>
    stacks.includes(name) ? { status: 'CREATE_COMPLETE' } : undefined,
  );

test('a stage that was deployed without a fake provider is refused, as it may hold data', async () => {
  await expect(refuse('Cosecha-accept')).rejects.toThrow('was deployed without a fake provider');
  // A new stage, a kept one, and one whose deployment failed are not.
  await refuse();
  await refuse('Cosecha-accept', 'Cosecha-accept-fake-provider', 'Cosecha-accept-readers');
  await refuse('Cosecha-accept-fake-provider');
});
