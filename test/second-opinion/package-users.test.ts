import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type App, Aspects, type IAspect, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installOnce } from '../../tools/local/install-once.ts';
import { repository, workDirectory } from '../../tools/local/paths.ts';
import { installPackage, linkPackages } from '../support/programs/install-package.ts';
import { embed, newStack } from '../unit/infra/embedded.ts';

const run = promisify(execFile);

const folder = join(import.meta.dirname, 'package-users');

/** The programs of package-users/package-lock.json, under `.cosecha/`. The first call installs them, 132 MB. */
const preparePrograms = async (): Promise<string> => {
  const files = ['package.json', 'package-lock.json'];
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const installed = await installOnce(join(workDirectory, 'package-users', key), async (directory) => {
    mkdirSync(directory);
    for (const file of files) copyFileSync(join(folder, file), join(directory, file));
    // cdk-nag finds the CDK of this repository.
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'];
    await run('npm', ['ci', ...options], { cwd: directory });
  });
  return join(installed, 'node_modules');
};

/** Another project outside this repository, with the packed package in its node_modules. */
const project = mkdtempSync(join(tmpdir(), 'cosecha-users-'));
afterAll(() => rmSync(project, { recursive: true }));

const addFile = (path: string, content: string): void => writeFileSync(join(project, path), content);

/** Imports every entry but the construct, and misuses two types, which a compiler that found no types would let pass. */
const uses = `
import { consumeExtractionEvents, decodeExtractionEvent, type ExtractionEvent } from '@cosecha/cosecha';
import { ApiError, extractionsClient } from '@cosecha/cosecha/client';
import { startTask } from '@cosecha/cosecha/provider';
import { settledEvent } from '@cosecha/cosecha/testing';
export const statusOf = (event: ExtractionEvent): string | undefined => {
  // @ts-expect-error: an erased extraction has no record
  if (event.kind === 'erased') return event.extraction.status;
  return event.kind === 'settled' ? event.extraction.status : undefined;
};
export const kind: string = decodeExtractionEvent(settledEvent({ status: 'FAILED' })).kind;
// @ts-expect-error: there is no such status
export const wrong = settledEvent({ status: 'DONE' });
export const read = async (): Promise<string> =>
  (await extractionsClient({ apiUrl: 'https://api.example' }).waitForOutcome('e-1')).status;
export const others: unknown[] = [consumeExtractionEvents, ApiError, startTask];
`;

const usesConstruct = `
import { Cosecha, type CosechaProps, ExtractionConsumer } from '@cosecha/cosecha/cdk';
export const props: CosechaProps = { stage: 'prod', providerBaseUrl: 'https://provider.example', readers: [] };
// @ts-expect-error: a stage is a text
export const misuse: CosechaProps = { ...props, stage: 1 };
export const constructs: unknown[] = [Cosecha, ExtractionConsumer];
`;

let programs = '';
beforeAll(async () => {
  programs = await preparePrograms();
  await installPackage(project);
  addFile('package.json', '{}');
  linkPackages(project, ['@types/node', 'undici-types']);
  for (const type of ['ts', 'cts', 'mts']) {
    addFile(`uses.${type}`, uses);
    addFile(`construct.${type}`, usesConstruct);
  }
  // Of the CDK nothing: to read its declarations each time would take most of the test. test/unit/tools/package reads them.
  const peers = ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs'];
  addFile('peers.d.ts', peers.map((name) => `declare module '${name}';\n`).join(''));
});

const own = join(repository, 'node_modules', 'typescript');
const compiler = (version: string): string =>
  version === 'ours' ? own : join(programs, `typescript-${version}`);

/** `--moduleResolution` with the module and the types of files that it is for. `node10` is also named `node`. */
const resolutions = {
  node10: { module: 'commonjs', types: ['ts'] },
  node16: { module: 'node16', types: ['cts', 'mts'] },
  nodenext: { module: 'nodenext', types: ['cts', 'mts'] },
  bundler: { module: 'esnext', types: ['ts'] },
};

const pairs = ['5.4', '5.9', '6.0', 'ours'].flatMap((version) =>
  (Object.keys(resolutions) as (keyof typeof resolutions)[])
    // TypeScript 7 has no `node10`.
    .filter((name) => !(version === 'ours' && name === 'node10'))
    .map((name) => [version, name] as const),
);

test.each(pairs)('TypeScript %s finds the types of every entry with %s', async (version, name) => {
  const { module, types } = resolutions[name];
  const deprecated = version === '6.0' && name === 'node10' ? ['--ignoreDeprecations', '6.0'] : [];
  // The libraries of TypeScript itself are not checked, which would take half of the time.
  const options = ['--noEmit', '--strict', '--skipDefaultLibCheck', '--target', 'es2022', '--types', 'node'];
  const kinds = ['--module', module, '--moduleResolution', name, ...deprecated];
  const tsc = join(compiler(version), 'bin', 'tsc');
  const check = async (files: readonly string[], ...more: readonly string[]): Promise<string> => {
    const args = [tsc, ...options, ...kinds, ...more, ...files];
    const { stdout } = await run(process.execPath, args, { cwd: project }).catch((failure) => failure);
    return stdout;
  };
  // Checks the package's declarations too.
  expect(await check(types.map((type) => `uses.${type}`))).toBe('');
  const construct = types.map((type) => `construct.${type}`);
  expect(await check(['peers.d.ts', ...construct], '--skipLibCheck')).toBe('');
});

test('Jest loads every entry as CommonJS', async () => {
  linkPackages(project, ['aws-cdk-lib', 'constructs']);
  addFile(
    'entries.test.js',
    `test('every entry', () => {
       const { decodeExtractionEvent } = require('@cosecha/cosecha');
       const { settledEvent } = require('@cosecha/cosecha/testing');
       expect(decodeExtractionEvent(settledEvent()).kind).toBe('settled');
       expect(require('@cosecha/cosecha/client').extractionsClient).toBeInstanceOf(Function);
       expect(require('@cosecha/cosecha/provider').startTask).toBeInstanceOf(Function);
       const { App, Stack } = require('aws-cdk-lib');
       const { Cosecha } = require('@cosecha/cosecha/cdk');
       const props = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
       expect(typeof new Cosecha(new Stack(new App(), 'Stack'), 'Bank', props).webhookUrl).toBe('string');
     });`,
  );
  const args = [join(programs, 'jest', 'bin', 'jest.js'), '--rootDir', project, '--testTimeout', '300000'];
  await run(process.execPath, args, { cwd: project });
});

/** What cdk-nag 2 reports to a logger, and what this test uses of it. */
type Nag = {
  readonly AwsSolutionsChecks: new (options: object) => IAspect;
};
type Finding = { readonly ruleId: string; readonly resource: IConstruct };

/** The rules that a construct, or one that contains it, breaks with a reason. */
const reasonsOf = ({ node }: IConstruct): readonly string[] =>
  node.scopes
    .flatMap((scope) => scope.node.metadata)
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .map(({ data }) => JSON.stringify(data));

test('cdk-nag 2 finds in an embedding app only what the construct has a reason for', () => {
  const { AwsSolutionsChecks } = createRequire(import.meta.url)(join(programs, 'cdk-nag')) as Nag;
  const stack = newStack();
  embed(stack, 'Bank', { publishEvents: true });
  const findings: Finding[] = [];
  const ignore = (): void => undefined;
  const logger = {
    onCompliance: ignore,
    onNotApplicable: ignore,
    onSuppressed: ignore,
    onSuppressedError: ignore,
    onNonCompliance: (finding: Finding) => findings.push(finding),
    onError: (error: unknown) => expect.fail(JSON.stringify(error)),
  };
  Aspects.of(stack).add(new AwsSolutionsChecks({ reports: false, additionalLoggers: [logger] }));
  (stack.node.root as App).synth();
  const without = findings.filter(
    ({ ruleId, resource }) => !reasonsOf(resource).some((reason) => reason.includes(ruleId)),
  );
  expect(without.map(({ ruleId, resource }) => `${ruleId} ${resource.node.path}`)).toEqual([]);
  // It finds some, so that the reasons are read at all.
  expect(findings).not.toHaveLength(0);
});
