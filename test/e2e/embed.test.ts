/** @module-tag slow */

import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { consumeExtractionEvents, decodeExtractionEvent } from '@cosecha/cosecha';
import type { DynamoDBRecord } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Credentials, signedFetch } from '#lib/client/signed-fetch.ts';
import { countEvent } from '../../examples/consumer/count-event.ts';
import { openStream } from '../../tools/cli/aws/follow-stream.ts';
import { emulatorApiUrl, toEmulatorUrl } from '../../tools/cli/aws/local-deployment.ts';
import { asLambdaRecord } from '../../tools/cli/listen/lambda-event.ts';
import { awsVariables, withoutAws } from '../../tools/local/emulator/aws-environment.ts';
import { fillSecrets } from '../../tools/local/fill-secrets.ts';
import { compileCache, repository } from '../../tools/local/paths.ts';
import { installPackage, linkPackages } from '../support/programs/install-package.ts';
import { memoryTotalsStore } from '../support/stores/memory-totals-store.ts';
import { aws } from './support/aws.ts';
import { provider } from './support/call-extractions.ts';
import { countInPython } from './support/count-in-python.ts';
import { deployApp } from './support/deploy-app.ts';
import { secret } from './support/searched-secrets.ts';
import { testTimeoutMs, waitMs } from './time-limits.ts';

const { client, caFile, sandboxUrl } = inject('cosecha');
const { credentials: root, ...where } = client;
const stage = 'local-embed';

const run = promisify(execFile);

/** An app outside of the repository. */
let project: string;
let installed: string;
let outputs: Record<string, string>;
let apiUrl: string;
/** Those of a service with the role `Orders`. */
let credentials: Required<Credentials>;

/** The environment of a process with these credentials. */
const environment = (given: Credentials) => awsVariables({ ...where, ...given, caFile });

/** Makes the deployment a client of the sandbox of its own, because a client has one webhook. */
const connectProvider = async (): Promise<void> => {
  const apiKey = secret('API key', randomBytes(24).toString('hex'));
  const signingKey = secret('signing key', randomBytes(24).toString('hex'));
  const url = toEmulatorUrl(apiUrl, outputs.BankWebhookUrl ?? '');
  await provider.setClient(randomUUID(), { apiKey, webhook: { url, signingKey } });
  await fillSecrets({ client }, `Cosecha-${stage}`, {
    providerApiKey: apiKey,
    webhookSigningKey: signingKey,
  });
};

const assumeRole = async (RoleArn = ''): Promise<Required<Credentials>> => {
  const { Credentials } = await new STSClient(client).send(
    new AssumeRoleCommand({ RoleArn, RoleSessionName: 'orders' }),
  );
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
};

/** The CDK runs three times, each of which takes a minute or more of a busy machine. */
const limitMs = 3 * testTimeoutMs;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'cosecha-embed-'));
  ({ installed } = await installPackage(project));
  linkPackages(project, ['aws-cdk-lib', 'constructs']);
  await writeFile(join(project, 'package.json'), '{ "type": "module" }\n');
  await cp(join(repository, 'examples', 'embed'), project, { recursive: true });
  const context = [`stage=${stage}`, `providerBaseUrl=${sandboxUrl}`];
  outputs = await deployApp('e2e-embed', { file: 'app.ts', cwd: project, context });
  apiUrl = emulatorApiUrl(client.endpoint, outputs.BankApiId ?? '');
  await connectProvider();
  credentials = await assumeRole(outputs.OrdersRoleArn);
}, limitMs);
afterAll(() => rm(project, { recursive: true, force: true }));

/** Requests an extraction as the service does, and returns its id, its outcome and its records in the stream. */
const requestAsOrders = async () => {
  const streamArn = outputs.BankExtractionsStreamArn ?? '';
  const stream = await openStream(aws.streams, streamArn, AbortSignal.timeout(waitMs));
  const { stdout } = await run(process.execPath, ['request.ts'], {
    cwd: project,
    env: { ...environment(credentials), API_URL: apiUrl },
  });
  const [extractionId = '', status] = stdout.trim().split(' ');
  const records: DynamoDBRecord[] = [];
  for await (const record of stream) {
    records.push(asLambdaRecord(record, streamArn));
    if (records.some((one) => decodeExtractionEvent(one).kind === 'collected')) break;
  }
  return { extractionId, status, records };
};

describe('a deployment in the stack of another project', () => {
  test('completes an extraction, which both example consumers count once', async () => {
    const { extractionId, status, records } = await requestAsOrders();
    expect(status).toBe('COMPLETED');

    const { store, shown } = memoryTotalsStore();
    for (const Records of [records, records.toReversed(), records]) {
      const answer = await consumeExtractionEvents({ Records }, (event) => countEvent(store, event));
      expect(answer).toEqual({ batchItemFailures: [] });
    }
    expect(Object.values(shown())).toEqual([
      { extractions: 1, collected: 1, bytes: expect.any(Number) as number },
    ]);
    expect(await countInPython([records, records.toReversed()])).toEqual({
      outcomes: { 'demo-bank COMPLETED': 1 },
      advice: { none: 1 },
      final: 1,
    });

    // The command line of the package finds the construct in its stack.
    const options = ['--stage', stage, '--stack', 'Banking/Bank', '--json'];
    const cli = [join(installed, 'tools', 'cli', 'cosecha.js'), ...options, 'get', extractionId];
    const { stdout } = await run(process.execPath, cli, { cwd: project, env: environment(root) });
    expect(JSON.parse(stdout)).toMatchObject({ extractionId, settledBy: 'webhook' });
  });

  test('refuses routes that the role was not granted', async () => {
    const fetch = signedFetch({ region: where.region, credentials });
    expect((await fetch(`${apiUrl}/extractions/unknown`)).status).toBe(404);
    expect((await fetch(`${apiUrl}/consents`)).status).toBe(403);
  });
});

/** A checkout, as somebody who upgrades has it, whose only stage has these settings. */
const checkout = async (name: string, settings: Readonly<Record<string, unknown>>) => {
  const directory = await mkdtemp(join(tmpdir(), 'cosecha-upgrade-'));
  for (const part of ['infra', 'lib', 'functions', 'tools', 'cdk.json', 'package.json'])
    await cp(join(repository, part), join(directory, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(directory, 'node_modules'));
  await mkdir(join(directory, 'stages'));
  const set = (values: Readonly<Record<string, unknown>>) =>
    writeFile(join(directory, 'stages', `${name}.json`), JSON.stringify(values));
  await set(settings);
  return { directory, set };
};

/** What the functions of a stage are configured with, by name. */
const configurationsOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
  const { Functions = [] } = await aws.lambda.send(new ListFunctionsCommand());
  const own = Functions.filter(({ FunctionName }) => FunctionName?.startsWith(`Cosecha-${name}-`));
  return Object.fromEntries(
    own.map(({ FunctionName = '', Environment, Timeout }) => [
      FunctionName,
      JSON.stringify([Timeout, Environment?.Variables]),
    ]),
  );
};

test(
  'the commands of docs/upgrade.md change what changed in the file of the stage, and keep its other settings',
  async () => {
    const name = 'local-upgraded';
    const settings = {
      providerBaseUrl: sandboxUrl,
      graceSeconds: 4_711,
      webhookWaitSeconds: 437,
      sweepEveryMinutes: 7,
    };
    const { directory, set } = await checkout(name, settings);
    try {
      await deployApp('e2e-upgrade', { file: 'infra/app.ts', cwd: directory, context: [`stage=${name}`] });
      const before = await configurationsOf(name);
      expect(Object.keys(before).length).toBeGreaterThan(8);
      expect(JSON.stringify(before)).toContain('4711');

      await set({ ...settings, graceSeconds: 4_712 });
      const page = readFileSync(join(repository, 'docs', 'upgrade.md'), 'utf8');
      const printed = [...page.matchAll(/^ *(npm run (diff|deploy) .*)$/gm)];
      expect(printed.map(([, , verb]) => verb)).toEqual(['diff', 'deploy']);
      const env = {
        ...withoutAws(process.env),
        ...environment(root),
        CDK_HOME: join(directory, 'cdk-home'),
        // As of every deployment to an emulator (tools/local/run-cdk.ts): test/second-opinion checks the templates.
        CDK_VALIDATION: 'false',
        NODE_COMPILE_CACHE: compileCache,
      };
      for (const [, command = ''] of printed) {
        const pasted = command.replace('--stage prod', `--stage ${name}`);
        expect(pasted).not.toBe(command);
        await run('bash', ['-c', pasted], { cwd: directory, env });
      }
      const changed = Object.entries(before).map(([key, value]) => [key, value.replaceAll('4711', '4712')]);
      expect(await configurationsOf(name)).toEqual(Object.fromEntries(changed));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
  limitMs,
);
