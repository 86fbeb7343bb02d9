import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from '../../../../infra/local/paths.ts';
import { buildPackage } from '../../../../infra/package/build-package.ts';
import { documentedRecords } from '../../docs/documented-records.ts';

const run = promisify(execFile);
const node = (args: readonly string[], cwd: string) => run(process.execPath, args, { cwd });

/** Another project, with the packed package in its node_modules and nothing of this repository around it. */
const project = mkdtempSync(join(tmpdir(), 'cosecha-package-'));
const installed = join(project, 'node_modules', 'cosecha');
afterAll(() => rmSync(project, { recursive: true }));

const give = (path: string, content: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), content);
};

/** A package of ours, where the other project would have installed it as well. */
const lend = (name: string): void => {
  mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
  symlinkSync(join(repository, 'node_modules', name), join(project, 'node_modules', name));
};

beforeAll(async () => {
  const staging = join(project, 'staging');
  await buildPackage(staging);
  const { stdout } = await run('npm', ['pack', staging, '--pack-destination', project, '--json'], {
    cwd: project,
  });
  const [{ filename }] = JSON.parse(stdout);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(project, filename), '-C', installed, '--strip-components', '1']);
  rmSync(staging, { recursive: true });
  give('package.json', '{ "type": "module" }');
}, 60_000);

const records = Object.fromEntries(documentedRecords());

// Synthesizing and compiling take seconds, more where others use the machine.
describe('the package, packed and installed elsewhere', { timeout: 300_000 }, () => {
  test('depends on nothing, and has no TypeScript to run and no test in it', async () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('private');
    const { stdout } = await run('find', ['.', '-name', '*.ts', '-not', '-name', '*.d.ts'], {
      cwd: installed,
    });
    expect(stdout).toBe('');
  });

  test('has its own README, whose links lead to files of the package', () => {
    const page = readFileSync(join(installed, 'README.md'), 'utf8');
    const links = [...page.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });

  test('has the record of each kind beside docs/stream.md, which links to them', () => {
    const missing = Object.keys(records).filter(
      (kind) => !existsSync(join(installed, 'docs', 'events', `${kind}.json`)),
    );
    expect(missing).toEqual([]);
  });

  test('decodes, on plain Node and from CommonJS as well', async () => {
    give('record.json', JSON.stringify(records.corrected));
    give(
      'decode.mjs',
      `import { readFileSync } from 'node:fs';
       import { decodeExtractionEvent } from 'cosecha';
       console.log(decodeExtractionEvent(JSON.parse(readFileSync('record.json', 'utf8'))).kind);`,
    );
    give(
      'decode.cjs',
      `console.log(require('cosecha').decodeExtractionEvent(require('./record.json')).kind);`,
    );
    expect((await node(['decode.mjs'], project)).stdout).toBe('corrected\n');
    expect((await node(['decode.cjs'], project)).stdout).toBe('corrected\n');
  });

  test('is 8 KB in a bundle, and no AWS client is among them', async () => {
    const { build } = await import('esbuild');
    give('handler.ts', `export { consumeExtractionEvents, decodeExtractionEvent } from 'cosecha';`);
    const { outputFiles } = await build({
      absWorkingDir: project,
      entryPoints: ['handler.ts'],
      bundle: true,
      minify: true,
      write: false,
      platform: 'node',
      format: 'esm',
    });
    const [bundle] = outputFiles;
    expect(bundle?.contents.length).toBeLessThan(8_192);
    expect(bundle?.text).not.toContain('DynamoDBClient');
  });

  test('connects a function in three lines, with the CDK of the project', async () => {
    for (const name of ['aws-cdk-lib', 'constructs']) lend(name);
    give(
      'synth.mjs',
      `import { App, Stack } from 'aws-cdk-lib';
       import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
       import { ExtractionConsumer } from 'cosecha/cdk';
       const stack = new Stack(new App({ outdir: 'cdk.out' }), 'Downstream');
       const handler = new Function(stack, 'Handler', {
         runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code: Code.fromInline('//'),
       });
       new ExtractionConsumer(stack, 'Extractions', { stage: 'prod', handler });
       const { Resources } = stack.node.root.synth().getStackArtifact(stack.artifactId).template;
       console.log(Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::EventSourceMapping').length);`,
    );
    expect((await node(['synth.mjs'], project)).stdout).toBe('1\n');
  });

  test('tells a strict compiler what there is, and what a consumer may not do with it', async () => {
    for (const name of ['aws-cdk-lib', 'constructs', '@types/node', '@types/aws-lambda', 'undici-types']) {
      if (!existsSync(join(project, 'node_modules', name))) lend(name);
    }
    give(
      'consumer.ts',
      `import type { DynamoDBStreamEvent, DynamoDBStreamHandler, EventBridgeEvent, DynamoDBRecord } from 'aws-lambda';
       import { consumeExtractionEvents, decodeExtractionEvent, type ExtractionEvent } from 'cosecha';
       import type { ExtractionConsumerProps } from 'cosecha/cdk';
       const count = async (event: ExtractionEvent): Promise<void> => {
         // @ts-expect-error: there is no record any more
         if (event.kind === 'erased') event.extraction;
         if (event.kind !== 'settled' && event.kind !== 'corrected') return;
         const outcome: string = event.outcome;
         if (event.extraction.method === 'consent') console.log(outcome, event.extraction.consentId);
         else console.log(outcome, event.extraction.entity);
       };
       export const handler = async (batch: DynamoDBStreamEvent) => consumeExtractionEvents(batch, count);
       export const fromBus = (event: EventBridgeEvent<'Extraction changed', DynamoDBRecord>) => {
         const told = decodeExtractionEvent(event.detail);
         return told.kind === 'not-ours' ? told.problem : told.extractionId;
       };
       export const typed: DynamoDBStreamHandler = handler;
       export type Props = ExtractionConsumerProps;`,
    );
    give(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          // No skipLibCheck: our declarations are checked too.
          strict: true,
          module: 'nodenext',
          target: 'es2022',
          noEmit: true,
          types: ['node'],
        },
        files: ['consumer.ts'],
      }),
    );
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const checked = await node([tsc, '--project', '.'], project).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');
  });

  test('has the command', async () => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { stdout } = await node([join(installed, bin.cosecha), '--help'], project);
    expect(stdout).toContain('Usage: cosecha');
  });
});
