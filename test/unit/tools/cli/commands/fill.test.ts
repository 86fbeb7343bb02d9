import { beforeEach, expect, test } from 'vitest';
import { logMessages } from '#lib/observability/log-messages.ts';
import { at, iso } from '#support/data/extraction-fixtures.ts';
import { httpServer } from '#support/programs/stub-servers.ts';
import type { CommandContext } from '#tools/cli/commands/command-context.ts';
import { fill } from '#tools/cli/commands/fill.ts';
import { commandTextOf } from '#tools/cli/terminal/command-text.ts';

let stored: string | undefined;
/** Of the secret, the newest first. */
let versions: readonly string[] = [];
/** Which version verified each delivery, the oldest first. */
let verifiedBy: readonly string[] = [];
let sent: readonly { readonly SecretId: string; readonly SecretString: string }[] = [];
beforeEach(() => {
  stored = undefined;
  versions = [];
  verifiedBy = [];
  sent = [];
});

/** Secrets Manager with one value for every secret. */
const { baseUrl: endpoint } = await httpServer((response, { headers, body }) => {
  const target = String(headers['x-amz-target']);
  if (target.endsWith('.FilterLogEvents')) {
    const events = verifiedBy.map((keyVersion, index) => ({
      timestamp: 1_000 + index,
      message: JSON.stringify({ timestamp: iso(index), message: logMessages.deliveryReceived, keyVersion }),
    }));
    response.end(JSON.stringify({ events }));
    return;
  }
  if (target.endsWith('.ListSecretVersionIds')) {
    const stages = ['AWSCURRENT', 'AWSPREVIOUS'];
    const Versions = versions
      .slice(0, 2)
      .map((VersionId, index) => ({ VersionId, VersionStages: [stages[index]] }));
    response.end(JSON.stringify({ Versions }));
    return;
  }
  if (target === 'secretsmanager.PutSecretValue') {
    const { SecretId, SecretString } = JSON.parse(body);
    sent = [...sent, { SecretId, SecretString }];
    stored = SecretString;
    versions = [`version-of-${sent.length}`, ...versions];
  }
  response.statusCode = stored === undefined ? 400 : 200;
  response.end(
    JSON.stringify(stored === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString: stored }),
  );
});

const run = async (key: 'api-key' | 'signing-key', typed: string, options = {}) => {
  const printed: unknown[] = [];
  const client = {
    region: 'eu-west-1',
    endpoint,
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
  };
  const context = {
    shell: {
      readSecret: async () => typed,
      now: () => at(100),
      print: (...shown: readonly unknown[]) => void printed.push(...shown),
    },
    connect: async () => ({
      name: 'Cosecha-prod',
      client,
      command: commandTextOf(),
      resources: async () => ['Cosecha-prod-ReceiveWebhookLog1-x'],
    }),
  } as unknown as CommandContext;
  const failure = await fill(key, options, context).then(
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

test.each<[string, readonly string[], RegExp | undefined]>([
  [
    'the previous key verified last',
    ['version-of-2', 'version-of-1'],
    /still signed with the previous key 1 min 39 s ago/,
  ],
  ['no delivery shows it', [], /No delivery shows/],
  ['only a key before both did', ['version-of-0'], /No delivery shows/],
  ['the current key verified last', ['version-of-1', 'version-of-2'], undefined],
])('a third signing key, while %s', async (_what, deliveries, refusal) => {
  await run('signing-key', 'sentinel-1');
  // Its predecessor is none that a delivery could need.
  expect((await run('signing-key', 'sentinel-2')).failure).toBeUndefined();
  verifiedBy = deliveries;
  const { failure } = await run('signing-key', 'sentinel-3');
  expect(sent.map(({ SecretString }) => SecretString).at(-1)).toBe(refusal ? 'sentinel-2' : 'sentinel-3');
  if (refusal === undefined) return expect(failure).toBeUndefined();
  expect(failure).toMatch(refusal);
  expect(failure).toContain('npm exec --no -- cosecha fill signing-key --drop-previous');
  expect((await run('signing-key', 'sentinel-3', { dropPrevious: true })).failure).toBeUndefined();
  expect(sent.at(-1)?.SecretString).toBe('sentinel-3');
});
