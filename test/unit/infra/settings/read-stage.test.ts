import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '#support/programs/temporary-directory.ts';
import { ConfigError } from '../../../../infra/settings/config-error.ts';
import { readStage } from '../../../../infra/settings/read-stage.ts';
import { settingsJsonSchema } from '../../../../tools/contracts/settings-page.ts';
import { read } from '../../docs/pages.ts';

const provider = 'https://api.provider.test';

/** A checkout with these files. */
const checkout = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
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
