import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';

const docs = new URL('../../../../docs/', import.meta.url);
const page = readFileSync(new URL('provider-client.md', docs), 'utf8');

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ taskDurationMs: 50 });
});
afterAll(() => sandbox.close());

test('the example of docs/provider-client.md runs as it stands, and prints what the page says', async () => {
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const [, printed = ''] = /It prints\n\n```\n([\s\S]*?)```/.exec(page) ?? [];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', example],
    {
      cwd: fileURLToPath(docs),
      env: {
        ...process.env,
        PROVIDER_BASE_URL: sandbox.baseUrl,
        PROVIDER_API_KEY: sandbox.apiKey,
        PROVIDER_CLIENT_ID: sandbox.clientId,
      },
    },
  );
  expect(stdout).toBe(printed);
  expect(printed).not.toBe('');
});
