import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { bundleFunctions } from '../../infra/bundle/bundle-functions.ts';
import { repository } from '../local/paths.ts';
import { generateSettingsType } from './generate-settings-type.ts';
import { bundledPackages, licencesOf } from './licences-and-sbom.ts';

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** The CDK construct uses the CDK of the app that imports it. */
const peers = ['aws-cdk-lib', 'constructs'];

/** Each becomes one file under `dist`, and one entry of `exports` that `packageJson` names. */
const libraries = {
  index: 'lib/downstream/index.ts',
  client: 'lib/client/index.ts',
  provider: 'lib/provider/index.ts',
  testing: 'lib/downstream/stream-records-for-tests.ts',
};

/** Bundled apart. In a chunk shared with the construct, less of a library could be left out of a consumer's bundle. */
const construct = { cdk: 'infra/cdk.ts' };

/** What the package's README and its reader need; the paths stay, so that links between pages stay valid. */
const pages = [
  'api.md',
  'asyncapi.yaml',
  'cli.md',
  'embedding.md',
  'erasure.md',
  'events',
  'openapi.yaml',
  'provider-client.md',
  'schemas',
  'settings.md',
  'stream.md',
].map((name) => `docs/${name}`);

/** CommonJS dependencies load Node's own modules with `require`, which an ES module does not have. */
const requireForCommonJs =
  "import{createRequire as cosechaRequire}from'node:module';const require=cosechaRequire(import.meta.url);";

/**
 * Builds the package that other projects install, and empties the directory first. The repository itself cannot be that package: Node
 * runs no TypeScript under `node_modules`, and a reader of the stream needs none of the AWS clients. So everything is bundled, and
 * the package has its own package.json without dependencies. Returns the folders of the packages that the bundles contain.
 */
export const buildPackage = async (directory: string): Promise<readonly string[]> => {
  const manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as Manifest;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const bundles = await Promise.all([
    bundle(directory, libraries),
    bundle(directory, construct),
    bundle(directory, { ...libraries, ...construct }, commonJs),
    bundle(directory, { cosecha: 'tools/cli/main.ts' }, command),
    bundleFunctions(join(directory, 'dist', 'functions')),
  ]);
  const packages = bundledPackages(bundles.map(({ metafile }) => metafile));
  await Promise.all([
    licencesOf(packages).then((text) => writeFile(join(directory, 'THIRD-PARTY-LICENCES.txt'), text)),
    declareTypes(join(directory, 'dist')),
    // The chunk of the console reads them from its own directory.
    ...['css', 'js', 'svg'].map((type) =>
      cp(
        join(repository, `tools/cli/console/console.${type}`),
        join(directory, `dist/chunks/console.${type}`),
      ),
    ),
    ...[...Object.values(manifest.bin), 'tools/cli/require-node.js', 'LICENSE', ...pages].map((path) =>
      copy(path, directory),
    ),
    cp(join(import.meta.dirname, 'README.md'), join(directory, 'README.md')),
    writeFile(join(directory, 'package.json'), `${JSON.stringify(packageJson(manifest), null, 2)}\n`),
  ]);
  return packages;
};

const bundle = (directory: string, entryPoints: Record<string, string>, options: BuildOptions = {}) =>
  build({
    absWorkingDir: repository,
    entryPoints,
    outdir: join(directory, 'dist'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The SDK's credential chain becomes a file of its own, which the client loads only where it needs it.
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    mainFields: ['module', 'main'],
    external: peers,
    logLevel: 'warning',
    ...options,
    metafile: true,
  });

/**
 * Jest loads no ES module with `require`, and `cdk init` makes apps whose tests run in Jest, as CommonJS. For a CommonJS file,
 * TypeScript's `node16` accepts no types of an ES module.
 */
const commonJs: BuildOptions = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  splitting: false,
  mainFields: ['main', 'module'],
  define: { 'import.meta.dirname': '__dirname' },
};

/** On an older Node, the launcher reports which one it needs. */
const command: BuildOptions = { target: 'node22', banner: { js: requireForCommonJs } };

/**
 * Writes the types in the same folders as the sources, so that their relative imports stay valid. The compiler writes those
 * of every source. Only what the entries' types refer to stays, and none of that needs another package than the peers.
 */
const declareTypes = async (directory: string): Promise<void> => {
  const types = join(directory, 'types');
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const project = join(import.meta.dirname, 'tsconfig.json');
  await promisify(execFile)(process.execPath, [tsc, '--project', project, '--outDir', types]);
  // The inferred type would need valibot, and has no descriptions.
  await writeFile(join(types, 'infra', 'settings', 'settings-type.d.ts'), generateSettingsType());
  const entries = Object.values({ ...libraries, ...construct });
  const used = new Set(entries.map((source) => declarationOf(types, source)));
  for (const file of used) {
    const text = await readFile(file, 'utf8');
    for (const [, source = ''] of text.matchAll(relativeImport))
      used.add(declarationOf(dirname(file), source));
    // The compiler keeps `.ts` in imports of declarations: https://www.typescriptlang.org/tsconfig/#rewriteRelativeImportExtensions
    const rewritten = text.replaceAll(relativeImport, (path) => path.replace(/\.ts'$/, ".js'"));
    await writeFile(file, rewritten);
  }
  const files = (await readdir(types, { recursive: true })).map((name) => join(types, name));
  const unused = files.filter((file) => file.endsWith('.d.ts') && !used.has(file));
  await Promise.all(unused.map((file) => rm(file)));
  // The same declarations, of CommonJS modules.
  const ofCommonJs = join(directory, 'types-cjs');
  await cp(types, ofCommonJs, { recursive: true });
  await writeFile(join(ofCommonJs, 'package.json'), '{ "type": "commonjs" }\n');
};

/** The source that a declaration imports, as `from './x.ts'` or `import('./x.ts')`. */
const relativeImport = /(?:from |import\()'(\.[^']*\.ts)'/g;

const declarationOf = (directory: string, source: string): string =>
  join(directory, source.replace(/\.ts$/, '.d.ts'));

const copy = (path: string, directory: string): Promise<void> =>
  cp(join(repository, path), join(directory, path), { recursive: true });

const typesOf = (folder: 'types' | 'types-cjs', source: string): string =>
  `./dist/${folder}/${source.replace(/\.ts$/, '.d.ts')}`;

const packageJson = ({ name, version, description, license, engines, bin, devDependencies }: Manifest) => ({
  name,
  version,
  description,
  license,
  type: 'module',
  engines,
  bin,
  exports: {
    ...Object.fromEntries(
      Object.entries({ ...libraries, ...construct }).map(([name, source]) => [
        name === 'index' ? '.' : `./${name}`,
        {
          import: { types: typesOf('types', source), default: `./dist/${name}.js` },
          default: { types: typesOf('types-cjs', source), default: `./dist/${name}.cjs` },
        },
      ]),
    ),
    './schemas/*': './docs/schemas/*',
  },
  // For `moduleResolution: node`, which reads no `exports`.
  main: './dist/index.cjs',
  types: typesOf('types-cjs', libraries.index),
  typesVersions: {
    '*': Object.fromEntries(
      Object.entries({ ...libraries, ...construct })
        .filter(([name]) => name !== 'index')
        .map(([name, source]) => [name, [typesOf('types-cjs', source)]]),
    ),
  },
  // No module does anything when it is imported, so a bundler keeps only what is used.
  sideEffects: false,
  peerDependencies: Object.fromEntries(peers.map((peer) => [peer, `^${devDependencies[peer]}`])),
  peerDependenciesMeta: Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
});
