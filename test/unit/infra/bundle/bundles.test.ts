import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundles, bundleFunctions } from '../../../../infra/bundle/bundle-functions.ts';
import { type FunctionName, functionNames } from '../../../../infra/function-names.ts';
import { environmentsOf, flatten, resourcesOf, synthesize } from '../synth.ts';

/**
 * The most bytes of each bundle, about 2 % above the measured size, so that a change that adds more has to raise it here.
 * The provider waits for receive-webhook's cold start; the design allows that bundle 270,000.
 */
const budgets: Readonly<Record<FunctionName, number>> = {
  'request-extraction': 251_500,
  'get-extraction': 309_000,
  'start-task': 267_500,
  'receive-webhook': 228_000,
  'reconcile-extraction': 394_000,
  'sweep-extractions': 205_500,
  'manage-consents': 203_500,
};

const workspace = mkdtempSync(join(tmpdir(), 'cosecha-bundles-'));
afterAll(() => rmSync(workspace, { recursive: true }));

let bundles: Bundles<FunctionName>;
beforeAll(async () => {
  bundles = await bundleFunctions(join(workspace, 'one'));
});

const fileOf = (name: FunctionName, of = bundles): string => join(of.code[name], 'index.js');

const { template } = synthesize();
const environments = environmentsOf(template);
const roles = new Map(
  Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(([id, { Properties }]) => {
    const { Variables } = Properties.Environment as { readonly Variables: Readonly<Record<string, unknown>> };
    return [Variables.POWERTOOLS_SERVICE_NAME, id.replace(/Function[0-9A-F]{8}$/, 'Role')];
  }),
);

test.each(functionNames)('%s is within its budget of bytes', (name) => {
  const { length } = readFileSync(fileOf(name));
  expect(length).toBeLessThanOrEqual(budgets[name]);
  // If this fails, lower the budget.
  expect(length).toBeGreaterThan(budgets[name] * 0.95);
});

test.each(functionNames)(
  '%s loads with the environment of its function, and exports a handler of two arguments at most',
  async (name) => {
    const script = `console.log(require(${JSON.stringify(fileOf(name))}).handler.length)`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
      env: { AWS_REGION: 'eu-west-1', ...environments.get(name) },
    });
    // A third one would be a callback, which Node 24 on Lambda refuses:
    // https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
    expect(['0', '1', '2']).toContain(stdout.trim());
  },
);

// Lambda deletes each message that the answer does not name.
test('reconcile-extraction consumes every message of a batch: those that it cannot read stay in the queue', async () => {
  const Records = ['one', 'two', 'three'].map((messageId) => ({ messageId, body: 'no message of ours' }));
  const script = `require(${JSON.stringify(fileOf('reconcile-extraction'))})
    .handler(${JSON.stringify({ Records })}, { getRemainingTimeInMillis: () => 60_000 })
    .then((answer) => console.log('\\n' + JSON.stringify(answer)))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
    env: { AWS_REGION: 'eu-west-1', ...environments.get('reconcile-extraction') },
  });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  });
});

test('the same sources give the same bytes, so that an unchanged function is not deployed again', async () => {
  const again = await bundleFunctions(join(workspace, 'another'));
  for (const name of functionNames) {
    expect(readFileSync(fileOf(name, again)).equals(readFileSync(fileOf(name)))).toBe(true);
  }
});

/** The packages, or files of them, whose code is in a bundle. */
const packagesIn = (name: FunctionName, pattern: RegExp): readonly string[] => {
  const [, output] =
    Object.entries(bundles.metafile.outputs).find(([path]) => path.endsWith(`${name}/index.js`)) ?? [];
  const found = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => pattern.exec(path)?.[1] ?? '');
  return [...new Set(found)].filter((one) => one !== '').toSorted();
};

describe('a bundle has exactly the clients of the services that its function may call:', () => {
  /** The client of each service. */
  const clientOf: Readonly<Record<string, string>> = {
    dynamodb: 'client-dynamodb',
    kms: 'client-kms',
    s3: 'client-s3',
    secretsmanager: 'client-secrets-manager',
    sqs: 'client-sqs',
    states: 'client-sfn',
  };

  /** The runtime writes the logs. */
  const notCalled = new Set(['logs']);

  type Statement = {
    readonly Action: string | readonly string[];
    readonly Condition?: unknown;
    readonly Principal?: { readonly AWS: unknown };
  };

  /** The services of identity and key policies, without those that another service calls (kms:ViaService). */
  const servicesOf = (role: string): readonly string[] => {
    const byRole = Object.values(resourcesOf(template, 'AWS::IAM::Policy'))
      .filter(({ Properties }) => flatten((Properties.Roles as unknown[])[0]) === `<${role}>`)
      .flatMap(
        ({ Properties }) =>
          (Properties.PolicyDocument as { readonly Statement: readonly Statement[] }).Statement,
      )
      .filter(({ Condition }) => !JSON.stringify(Condition ?? '').includes('kms:ViaService'));
    const byKey = Object.values(resourcesOf(template, 'AWS::KMS::Key'))
      .flatMap(
        ({ Properties }) => (Properties.KeyPolicy as { readonly Statement: readonly Statement[] }).Statement,
      )
      .filter(({ Principal }) => JSON.stringify(Principal ?? '').includes(`"${role}`));
    return [...byRole, ...byKey].flatMap(({ Action }) =>
      [Action].flat().map((action) => action.split(':')[0] ?? ''),
    );
  };

  test.each(functionNames)('%s', (name) => {
    const services = new Set(servicesOf(roles.get(name) ?? ''));
    const expected = [...services]
      .filter((service) => !notCalled.has(service))
      .map((service) => clientOf[service]);
    expect(expected.length).toBeGreaterThan(0);
    expect(packagesIn(name, /@aws-sdk\/(client-[^/]+)\//)).toEqual(expected.toSorted());
  });
});

test.each(functionNames)('%s reads credentials only from its environment', (name) => {
  expect(packagesIn(name, /\/((?:credential-provider|token-provider|nested-clients)[^/]*)\//)).toEqual([
    'credential-provider-env',
    'credential-provider-node',
  ]);
  // Only the stand-in.
  expect(packagesIn(name, /credential-provider-node\/(.+)$/)).toEqual(['dist-es/index.js']);
  expect(readFileSync(fileOf(name), 'utf8')).not.toMatch(
    /sso_session|AWS_CONTAINER_CREDENTIALS|credential_process/,
  );
});
