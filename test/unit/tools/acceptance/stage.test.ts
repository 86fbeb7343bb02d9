import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { bundle } from '../../../../infra/bundle/bundle-functions.ts';
import { awsSettings, emulatorSettings } from '../../../../tools/acceptance/settings.ts';
import { acceptanceSources } from '../../../../tools/acceptance/stage.ts';
import { environmentsOf, type Resource, resourcesOf, synthesize } from '../../infra/synth.ts';
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
  ['local', emulatorSettings],
])('everything of the stage %s, with its settings, is deleted with it', (stage, settings) => {
  const { fakeProvider, cosecha, readers } = synthesizeStage({ stage, ...settings });
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

test('the settings of another stage leave out its domain, its topic and its provider', () => {
  const { cosecha } = synthesizeStage({
    stage: 'accept',
    providerBaseUrl: 'https://provider.example',
    domainName: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/1',
    disableDefaultEndpoint: 'true',
    alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
  });
  cosecha.resourceCountIs('AWS::ApiGatewayV2::DomainName', 0);
  expect(JSON.stringify(cosecha.toJSON())).not.toMatch(
    /provider\.example|on-call|DisableExecuteApiEndpoint":true/,
  );
});

test.each(Object.entries(acceptanceSources))(
  'the bundle of %s loads, and exports a handler of two arguments at most',
  async (name, source) => {
    const { fakeProvider, readers } = synthesizeStage({ stage: 'accept' });
    const workspace = mkdtempSync(join(tmpdir(), 'cosecha-acceptance-'));
    try {
      const { code } = await bundle(workspace, { [name]: source });
      const script = `console.log(require(${JSON.stringify(join(code[name] ?? '', 'index.js'))}).handler.length)`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
        env: {
          AWS_REGION: 'eu-west-1',
          ...environmentsOf(fakeProvider).get(name),
          ...environmentsOf(readers).get(name),
        },
      });
      // As in infra/bundle/bundles.test.ts.
      expect(['0', '1', '2']).toContain(stdout.trim());
    } finally {
      rmSync(workspace, { recursive: true });
    }
  },
);
