import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Deployment } from '../../../../../tools/cli/aws/deployment.ts';
import { checkStack } from '../../../../../tools/cli/doctor/check-resources.ts';
import { checksOf } from '../../../../../tools/cli/doctor/checks.ts';
import { runCheck } from '../../../../../tools/cli/doctor/finding.ts';
import { fail } from '../../../../support/aws/stub-client.ts';

const deployment = {
  client: { region: 'eu-west-1' },
  output: (name: string) => name,
  api: {},
} as unknown as Deployment;
const checks = () => checksOf(deployment, {}, new Date(0));

test('docs/cli.md has the id of every check, in the order of the command', () => {
  const page = readFileSync(new URL('../../../../../docs/cli.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## doctor$(.*?)^## /ms.exec(page) ?? [];
  const documented = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
  expect(checks().map(({ id }) => id)).toEqual(documented);
});

test('the provider is checked on request only', async () => {
  const check = checks().find(({ id }) => id === 'provider');
  expect(await check?.run()).toEqual({
    result: 'skipped',
    message: 'provider: skipped; --provider logs in once with the API key',
  });
});

test('a check that throws fails with the reason, so that the other checks still run', async () => {
  const denied = Object.assign(new Error('User: u is not authorized to perform: sqs:GetQueueAttributes'), {
    name: 'AccessDenied',
  });
  expect(await runCheck({ id: 'dead-letters', run: async () => fail(denied) })).toEqual({
    result: 'failed',
    message: 'dead-letters: could not be checked',
    remedy: expect.stringContaining('sqs:GetQueueAttributes'),
  });
});

test.each([
  ['UPDATE_COMPLETE', 'passed'],
  ['UPDATE_ROLLBACK_COMPLETE', 'failed'],
  ['UPDATE_IN_PROGRESS', 'skipped'],
])('a stack in %s is %s', (status, result) => {
  expect(checkStack('S', status).result).toBe(result);
});
