import { beforeEach, expect, test } from 'vitest';
import type { CommandContext } from '../../../../../tools/cli/commands/command-context.ts';
import { fill } from '../../../../../tools/cli/commands/fill.ts';
import { httpServer } from '../../../../support/programs/stub-servers.ts';

let stored: string | undefined;
let sent: readonly { readonly SecretId: string; readonly SecretString: string }[] = [];
beforeEach(() => {
  stored = undefined;
  sent = [];
});

/** Secrets Manager with one value for every secret. */
const { baseUrl: endpoint } = await httpServer((response, { headers, body }) => {
  if (headers['x-amz-target'] === 'secretsmanager.PutSecretValue') {
    const { SecretId, SecretString } = JSON.parse(body);
    sent = [...sent, { SecretId, SecretString }];
    stored = SecretString;
  }
  response.statusCode = stored === undefined ? 400 : 200;
  response.end(
    JSON.stringify(stored === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString: stored }),
  );
});

const run = async (key: 'api-key' | 'signing-key', typed: string) => {
  const printed: unknown[] = [];
  const client = {
    region: 'eu-west-1',
    endpoint,
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
  };
  const context = {
    shell: {
      readSecret: async () => typed,
      print: (...shown: readonly unknown[]) => void printed.push(...shown),
    },
    connect: async () => ({ name: 'Cosecha-prod', client }),
  } as unknown as CommandContext;
  const failure = await fill(key, {}, context).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  return { printed: JSON.stringify(printed), failure };
};

test.each([
  ['api-key', 'provider-api-key'],
  ['signing-key', 'webhook-signing-key'],
] as const)(
  '%s is stored in its secret, and not twice, which would make it its own predecessor',
  async (key, secret) => {
    const SecretId = `Cosecha-prod/${secret}`;
    expect((await run(key, 'sentinel-1')).printed).toContain(`is stored in ${SecretId}`);
    expect((await run(key, 'sentinel-1')).printed).toContain('Nothing was changed.');
    const { printed } = await run(key, 'sentinel-2');
    expect(sent).toEqual(['sentinel-1', 'sentinel-2'].map((SecretString) => ({ SecretId, SecretString })));
    expect(printed).not.toContain('sentinel');
  },
);

test.each([
  ['api-key', '', /is empty/],
  ['api-key', 'Sentinel of ours', /has a space/],
  ['api-key', 'npm exec --no -- cosecha sentinel', /is a command/],
  ['signing-key', 'npm exec --no -- cosecha --stage prod fill sentinel', /is a command/],
  ['signing-key', 'COSECHA_STAGE=prod cosecha sentinel', /is a command/],
  ['api-key', '"sentinel"', /is in quotes/],
  ['signing-key', ' sentinel', /white space/],
  ['signing-key', '\ufeffsentinel', /byte order mark/],
  ['signing-key', '{"key":"sentinel"}', /is JSON/],
] as const)('%s %j is refused, and nothing is stored', async (key, typed, reason) => {
  const { failure } = await run(key, typed);
  expect(failure).toMatch(reason);
  expect(failure).toContain('Nothing was stored.');
  expect(failure).not.toContain('sentinel');
  expect(sent).toEqual([]);
});
