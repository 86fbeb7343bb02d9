/** @module-tag slow */

import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build, type Metafile } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage, linkPackages } from '#support/programs/install-package.ts';
import { repository } from '#tools/local/paths.ts';
import { settingNames } from '../../../../infra/settings/settings.ts';
import { documentedRecords } from '../../docs/documented-records.ts';

const run = promisify(execFile);
const node = (args: readonly string[], cwd: string) => run(process.execPath, args, { cwd });

const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');

/** Another project outside this repository, with the packed package in its node_modules. */
const project = mkdtempSync(join(tmpdir(), 'cosecha-package-'));
afterAll(() => rmSync(project, { recursive: true }));

const addFile = (path: string, content: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), content);
};

let tarball = '';
let installed = '';

beforeAll(async () => {
  ({ tarball, installed } = await installPackage(project));
  addFile('package.json', '{ "type": "module" }');
});

/** The size of a file and of all that it imports, without what it loads only when it is needed. */
const bytesLoadedAtOnce = ({ outputs }: Metafile, entry: string): number => {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && imported in outputs) loaded.add(imported);
    }
  }
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
};

const records = Object.fromEntries(documentedRecords());

// Synthesizing and compiling take seconds, and more on a busy machine.
describe('the package, packed and installed elsewhere', { timeout: 300_000 }, () => {
  test('has no dependencies, no TypeScript sources and no tests', async () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('private');
    const find = ['.', '-name', '*.ts', '-not', '-name', '*.d.ts'];
    expect((await run('find', find, { cwd: installed })).stdout).toBe('');
  });

  test('has the licences of what is bundled, and names no package that only builds or tests it', () => {
    const text = readFileSync(join(installed, 'THIRD-PARTY-LICENCES.txt'), 'utf8');
    const named = [...text.matchAll(/^(@?[\w./-]+) \d+\.\d+\.\d+ \(([\w.-]+)\)$/gm)];
    const names = named.map(([, name]) => name);
    const bundled = ['@aws-sdk/client-dynamodb', 'commander', 'hono', 'valibot'];
    expect(names).toEqual(expect.arrayContaining(bundled));
    expect(names).not.toContain('vitest');
    // Each is permissive, so that the package as a whole can be under Apache-2.0.
    const licences = new Set(named.map(([, , licence]) => licence));
    expect(licences).toEqual(new Set(['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0']));
  });

  test('has no copyright notice but its own and those of what is bundled', async () => {
    const thirdParty = readFileSync(join(installed, 'THIRD-PARTY-LICENCES.txt'), 'utf8');
    const notices = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && file.name !== 'THIRD-PARTY-LICENCES.txt')
      .flatMap((file) => {
        const text = readFileSync(join(file.parentPath, file.name), 'utf8');
        const found = text.matchAll(/copyright\s+(?:\(c\)\s*|©\s*)*(?:[\d, -]+)?([A-Z][^\d\n*.,]*)/g);
        const upper = text.matchAll(/Copyright\s+(?:\(c\)\s*|©\s*)*\d[\d, -]*([A-Z][^\d\n*.,]*)/g);
        return [...found, ...upper].map(([, owner = '']) => `${file.name}: ${owner.trim()}`);
      });
    // Only bundles contain code of others.
    const isThirdParty = (notice: string): boolean =>
      /\.[cm]?js: /.test(notice) && thirdParty.includes(notice.replace(/^.*: /, ''));
    const foreign = notices.filter((notice) => !isThirdParty(notice));
    expect(foreign).toEqual(['LICENSE: The contributors to Cosecha']);
  });

  test('has its own README, which links only to files of the package', () => {
    const page = readFileSync(join(installed, 'README.md'), 'utf8');
    const links = [...page.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });

  test('has every page, record and schema that docs/stream.md links to', () => {
    const page = readFileSync(join(installed, 'docs', 'stream.md'), 'utf8');
    const links = [...page.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, path = '']) => path);
    expect(links.filter((path) => path.startsWith('events/')).length).toBeGreaterThan(10);
    expect(links.filter((path) => path.startsWith('schemas/')).length).toBeGreaterThan(2);
    const missing = links.filter((path) => !existsSync(join(installed, 'docs', path)));
    // Examples are in the repository only.
    expect(missing.filter((path) => !path.startsWith('../examples/'))).toEqual([]);
  });

  test('decodes on plain Node, from an ES module and from CommonJS', async () => {
    addFile('record.json', JSON.stringify(records.corrected));
    addFile(
      'decode.mjs',
      `import { readFileSync } from 'node:fs';
       import { decodeExtractionEvent } from '@cosecha/cosecha';
       console.log(decodeExtractionEvent(JSON.parse(readFileSync('record.json', 'utf8'))).kind);`,
    );
    addFile(
      'decode.cjs',
      `const { decodeExtractionEvent } = require('@cosecha/cosecha');
       console.log(decodeExtractionEvent(require('./record.json')).kind);
       console.log(decodeExtractionEvent(require('@cosecha/cosecha/testing').settledEvent()).kind);
       console.log(require('@cosecha/cosecha/schemas/stream-record.json').$defs.settled.description);`,
    );
    expect((await node(['decode.mjs'], project)).stdout).toBe('corrected\n');
    // As Jest, which loads no ES module with `require`.
    const asJest = '--no-experimental-require-module';
    const { stdout } = await node([asJest, 'decode.cjs'], project);
    expect(stdout).toBe('corrected\nsettled\nThe extraction has an outcome.\n');
  });

  test.each([
    ['the reader of the stream', `export * from '@cosecha/cosecha';`, 8],
    ['the builders for tests', `export * from '@cosecha/cosecha/testing';`, 9],
    ['the client of the API', `export * from '@cosecha/cosecha/client';`, 19],
    ['the whole client of the provider', `export * from '@cosecha/cosecha/provider';`, 34],
    ['one call of it', `export { startTask } from '@cosecha/cosecha/provider';`, 18],
  ])('%s adds no more KiB to a minified bundle than the package states', async (_part, source, kibibytes) => {
    addFile('handler.ts', source);
    const { metafile } = await build({
      absWorkingDir: project,
      entryPoints: ['handler.ts'],
      outdir: 'bundled',
      bundle: true,
      minify: true,
      splitting: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
    });
    const bytes = bytesLoadedAtOnce(metafile, 'bundled/handler.js');
    expect(bytes).toBeLessThan(kibibytes * 1_024);
    expect(bytes).toBeGreaterThan((kibibytes - 3) * 1_024);
  });

  test('calls the API with the credentials of the environment', async () => {
    addFile(
      'ambient.mjs',
      `import { extractionsClient } from '@cosecha/cosecha/client';
       globalThis.fetch = async (request) => Response.json({ extractionId: request.headers.get('authorization') });
       console.log((await extractionsClient({ apiUrl: 'https://api.example' }).getExtraction('e-1')).extractionId);`,
    );
    const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
    const env = { ...keys, AWS_REGION: 'sa-east-1' };
    const { stdout } = await run(process.execPath, ['ambient.mjs'], { cwd: project, env });
    const scope = /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/sa-east-1\/execute-api\/aws4_request/;
    expect(stdout).toMatch(scope);
  });

  test('has a manifest, types and files that package linters accept', async () => {
    const { messages } = await publint({ pkgDir: installed, strict: true, pack: false });
    expect(messages).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    if (analysis.types === false) throw new Error('The package has no types.');
    // The schemas are JSON files, which `moduleResolution: node` does not find.
    expect(analysis.problems).toEqual([]);
  });

  test('connects a function in three lines, with the CDK of the project', async () => {
    linkPackages(project, ['aws-cdk-lib', 'constructs']);
    addFile(
      'synth.mjs',
      `import { App, Stack } from 'aws-cdk-lib';
       import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
       import { ExtractionConsumer } from '@cosecha/cosecha/cdk';
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

  test('is imported by an app of `cdk init`, whose compiler checks it and whose tests Jest loads as CommonJS', async () => {
    linkPackages(project, ['aws-cdk-lib', 'constructs', '@types/node', 'undici-types']);
    const app = join(project, 'banking');
    mkdirSync(app);
    const cdk = join(repository, 'node_modules', 'aws-cdk', 'bin', 'cdk');
    await node([cdk, 'init', 'app', '--language', 'typescript', '--generate-only'], app);
    // The example of docs/embedding.md, with its pinned versions.
    const page = readFileSync(join(installed, 'docs', 'embedding.md'), 'utf8');
    const { devDependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    const pins = ['aws-cdk', 'aws-cdk-lib', 'constructs'].map((name) => `${name}@${devDependencies[name]}`);
    expect(page).toContain(`npm install --save-exact ${pins.join(' ')}\n`);
    const [, example = ''] = /```ts\n((?:(?!```)[\s\S])*^test\([\s\S]*?)```/m.exec(page) ?? [];
    addFile('banking/test/example.test.ts', example);
    addFile('banking/jest.d.ts', 'declare const test: (name: string, run: () => void) => void;');
    const types = ['--typeRoots', '../node_modules/@types', '--types', 'node'];
    const checked = await node([tsc, '--project', '.', ...types], app).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');
    const entryPoints = [join(app, 'test/example.test.ts')];
    await build({ entryPoints, format: 'cjs', outfile: join(app, 'test.cjs') });
    addFile('banking/jest.cjs', 'globalThis.test = (name, run) => { run(); console.log(name); };');
    // As Jest, which loads no ES module with `require`.
    const args = ['--no-experimental-require-module', '--require', './jest.cjs', 'test.cjs'];
    expect((await node(args, app)).stdout).toBe('the stack has a deployment of Cosecha\n');
  });

  test.each(['esm', 'cjs'] as const)(
    'names the option that an app needs whose bundle contains it, in %s',
    async (format) => {
      linkPackages(project, ['aws-cdk-lib', 'constructs']);
      addFile(
        'bundled.ts',
        `import { App, Stack } from 'aws-cdk-lib';
       import { Cosecha } from '@cosecha/cosecha/cdk';
       new Cosecha(new Stack(new App(), 'Banking'), 'Bank', { stage: 'prod', providerBaseUrl: 'https://provider.example' });`,
      );
      const outfile = join(project, `bundled.${format === 'esm' ? 'mjs' : 'cjs'}`);
      const external = ['aws-cdk-lib', 'constructs'];
      const options = { entryPoints: [join(project, 'bundled.ts')], platform: 'node' as const, bundle: true };
      await build({ ...options, external, format, outfile, logLevel: 'silent' });
      await expect(node([outfile], project)).rejects.toThrow('esbuild --external:@cosecha/cosecha');
      await build({ ...options, external: [...external, '@cosecha/cosecha'], format, outfile });
      await node([outfile], project);
    },
  );

  // test/second-opinion/package-users.test.ts misuses the other entries.
  test('has types that a strict compiler accepts and that refuse a misuse', async () => {
    linkPackages(project, ['aws-cdk-lib', 'constructs', '@types/node', '@types/aws-lambda', 'undici-types']);
    addFile(
      'consumer.ts',
      `import type { DynamoDBStreamEvent, DynamoDBStreamHandler, EventBridgeEvent, DynamoDBRecord } from 'aws-lambda';
       import { consumeExtractionEvents, decodeExtractionEvent } from '@cosecha/cosecha';
       import { Cosecha, ExtractionConsumer, type CosechaProps } from '@cosecha/cosecha/cdk';
       import type { Stack } from 'aws-cdk-lib';
       import type { Function } from 'aws-cdk-lib/aws-lambda';
       export const handler = async (batch: DynamoDBStreamEvent) => consumeExtractionEvents(batch, async () => undefined);
       export const fromBus = (event: EventBridgeEvent<'Extraction changed', { data: DynamoDBRecord }>) => {
         const decoded = decodeExtractionEvent(event.detail.data);
         return decoded.kind === 'not-ours' ? decoded.problem : decoded.extractionId;
       };
       export const typed: DynamoDBStreamHandler = handler;
       export const embed = (stack: Stack, caller: Function): string => {
         const props: CosechaProps = { stage: 'prod', providerBaseUrl: 'https://provider.example', readers: [] };
         // @ts-expect-error: only the repository itself deploys a fake provider
         const withFake: CosechaProps = { ...props, hasFakeProvider: true };
         const bank = new Cosecha(stack, 'Bank', props);
         bank.grantRequestExtractions(caller);
         new ExtractionConsumer(stack, 'Outcomes', { cosecha: bank, handler: caller });
         // @ts-expect-error: the bundles are those of the package
         new Cosecha(stack, 'Other', { ...withFake, built: undefined });
         return bank.webhookUrl;
       };`,
    );
    const page = readFileSync(join(repository, 'docs', 'batches.md'), 'utf8');
    addFile('batches.ts', [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text).join(''));
    // What an editor shows at the entry point of each module.
    const entryPoints = [
      'lib/client/extractions-client.ts',
      'lib/provider/client.ts',
      'infra/cosecha.ts',
      'lib/downstream/consume-extraction-events.ts',
      'lib/downstream/stream-records-for-tests.ts',
    ];
    const shown = entryPoints.map((path, index) => {
      const [, example = ''] =
        /@example\n((?: \*.*\n)+?) \*\//.exec(readFileSync(join(repository, path), 'utf8')) ?? [];
      expect(example).toContain("from '@cosecha/cosecha");
      const file = `shown-${index}.ts`;
      addFile(file, example.replace(/^ \* ?/gm, ''));
      return file;
    });
    const examples = ['app.ts', 'request.ts'];
    for (const file of examples) cpSync(join(repository, 'examples', 'embed', file), join(project, file));
    // Without skipLibCheck, so that the package's declarations are checked too.
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2022',
      noEmit: true,
      types: ['node'],
    };
    const files = ['consumer.ts', 'batches.ts', ...shown, ...examples];
    addFile('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    const checked = await node([tsc, '--project', '.'], project).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');
  });

  test('has every setting in its types, with its description and default', () => {
    const types = readFileSync(join(installed, 'dist/types/infra/settings/settings-type.d.ts'), 'utf8');
    expect([...types.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name)).toEqual(settingNames);
    expect(types).toContain('   * Default: 900.\n   */\n  readonly startWindowSeconds?: number | undefined;');
  });

  test('has the style, script and icon of the console beside the code that reads them', () => {
    const chunks = join(installed, 'dist', 'chunks');
    const names = readdirSync(chunks);
    const reading = names.filter((name) => readFileSync(join(chunks, name), 'utf8').includes('console.css'));
    expect(reading).toEqual([expect.stringMatching(/^console-.*\.js$/)]);
    expect(names).toEqual(expect.arrayContaining(['console.css', 'console.js', 'console.svg']));
  });

  test('has the command cosecha', async () => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { stdout } = await node([join(installed, bin.cosecha), '--help'], project);
    expect(stdout).toContain('Usage: cosecha');
  });
});
