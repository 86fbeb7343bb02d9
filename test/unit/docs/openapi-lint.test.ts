import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openapiFile } from './openapi-document.ts';

test('docs/openapi.yaml lints clean, warnings included', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lint({ ref: fileURLToPath(openapiFile), config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});
