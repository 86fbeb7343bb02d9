import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../../../infra/settings/config-error.ts';
import { readStage } from '../../../../infra/settings/read-stage.ts';
import { settingsJsonSchema } from '../../../../infra/settings/settings-page.ts';
import { repository } from '../../../../tools/local/paths.ts';
import { read } from '../../docs/metric-names.ts';

const provider = 'https://api.provider.test';

/** A checkout with these files. */
const checkout = (files: Readonly<Record<string, string>>): string => {
  const directory = mkdtempSync(join(tmpdir(), 'cosecha-stages-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'stages'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
};

test('each stage has the settings of its own file, and the command line wins over it', () => {
  const directory = checkout({
    'stages/prod.json': JSON.stringify({
      $schema: './settings.schema.json',
      providerBaseUrl: provider,
      graceSeconds: 60,
    }),
    'stages/sandbox.json': JSON.stringify({ providerBaseUrl: 'https://sandbox.provider.test' }),
  });
  expect(readStage({ stage: 'prod' }, directory)).toEqual({
    stage: 'prod',
    providerBaseUrl: provider,
    graceSeconds: 60,
  });
  expect(readStage({ stage: 'prod', graceSeconds: '90' }, directory)).toMatchObject({ graceSeconds: '90' });
  expect(readStage({ stage: 'sandbox' }, directory)).toEqual({
    stage: 'sandbox',
    providerBaseUrl: 'https://sandbox.provider.test',
  });
});

test.each([
  ['{', /^stages\/prod\.json must be JSON: /],
  ['[]', 'stages/prod.json must be one object, with a setting in each member.'],
  ['{"stage":"other"}', 'the name of the file is the stage'],
  ['{"provider-base-url":"x"}', 'stages/prod.json has unknown settings: provider-base-url.'],
])('the file %j is refused with a sentence', (text, sentence) => {
  const directory = checkout({ 'stages/prod.json': text });
  expect(() => readStage({ stage: 'prod' }, directory)).toThrow(ConfigError);
  expect(() => readStage({ stage: 'prod' }, directory)).toThrow(sentence);
});

test('settings in cdk.json are refused, as a second stage would inherit them', () => {
  const directory = checkout({ 'cdk.json': '{"context":{"domainName":"a.test","@aws-cdk/core:x":true}}' });
  expect(() => readStage({ stage: 'prod', providerBaseUrl: provider }, directory)).toThrow(
    'cdk.json has settings: domainName. Move them into stages/<stage>.json',
  );
});

test('the schema for editors takes the example of docs/settings.md, and no misspelt or wrong value', () => {
  const [, example = ''] = read('docs/settings.md').match(/```json\n([\s\S]*?)```/) ?? [];
  const validate = new Ajv({ strict: false }).compile(JSON.parse(settingsJsonSchema()));
  expect(validate(JSON.parse(example))).toBe(true);
  expect(validate({ graceSecond: 60 })).toBe(false);
  expect(validate({ graceSeconds: 'soon' })).toBe(false);
});

test('the commands of docs/upgrade.md take the settings of the stage, over which no page passes another', {
  tags: ['slow'],
}, () => {
  const directory = checkout({
    'stages/prod.json': JSON.stringify({ providerBaseUrl: provider, graceSeconds: 7_200 }),
  });
  for (const name of ['infra', 'lib', 'functions', 'tools'])
    cpSync(join(repository, name), join(directory, name), { recursive: true });
  for (const name of ['cdk.json', 'package.json']) cpSync(join(repository, name), join(directory, name));
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  const printed = [...read('docs/upgrade.md').matchAll(/npm run (?:diff|deploy)\b(.*)/g)].map(
    ([, rest = '']) => rest,
  );
  expect(new Set(printed)).toEqual(new Set([' -- --stage prod']));
  // What both do first, without an account.
  const [, ...args] = printed[0]?.trim().split(' ') ?? [];
  const script = join(directory, 'infra/deploy/cdk-for-stage.ts');
  execFileSync(process.execPath, [script, 'synth', '--quiet', ...args], { cwd: directory, stdio: 'pipe' });
  const template = readFileSync(join(directory, 'cdk.out', 'Cosecha-prod.template.json'), 'utf8');
  expect(template).toContain(`"PROVIDER_BASE_URL": "${provider}"`);
  expect(template).not.toContain('provider.example');
  expect(spawnSync(process.execPath, [script, 'diff'], { cwd: directory, encoding: 'utf8' }).status).toBe(1);
});
