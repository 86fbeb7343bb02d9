import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Deployment } from '../../../../../tools/cli/aws/deployment.ts';
import { checksOf } from '../../../../../tools/cli/doctor/checks.ts';

const deployment: Deployment = {
  stage: 'prod',
  name: 'Cosecha-prod',
  stackName: 'Cosecha-prod',
  stackStatus: 'CREATE_COMPLETE',
  client: { region: 'eu-west-1' },
  isEmulated: false,
  output: (name) => name,
  sweepEveryMinutes: () => 5,
  api: { base: '', webhookUrl: '', fetch: () => Promise.reject(new Error('not called')) },
};

test('docs/cli.md has the id of every check, in the order of the command', () => {
  const page = readFileSync(new URL('../../../../../docs/cli.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## doctor$(.*?)^## /ms.exec(page) ?? [];
  const documented = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
  expect(checksOf(deployment, {}, new Date(0)).map(({ id }) => id)).toEqual(documented);
});

test('the provider is checked on request only', async () => {
  const check = checksOf(deployment, {}, new Date(0)).find(({ id }) => id === 'provider');
  expect(await check?.run()).toEqual({
    result: 'skipped',
    message: 'provider: skipped; --provider logs in once with the API key',
  });
});
