import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { type FunctionName, functionNames } from '../lambda/contracts.ts';
import { dropUnusedErrors } from './drop-unused-errors.ts';
import { useLambdaCredentials } from './use-lambda-credentials.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export type Bundles<Name extends string> = {
  /** The directory of each bundle, with an `index.js` that exports `handler`. */
  readonly code: Readonly<Record<Name, string>>;
  /** esbuild's report of the inputs of each bundle, by path below the root of the repository. */
  readonly metafile: Metafile;
};

/** What only slows the start of a function is left out, or loaded when it is called. */
export const withoutSlowCode = (): Pick<BuildOptions, 'alias' | 'plugins'> => ({
  alias: Object.fromEntries(
    ['node:fs/promises', 'node:zlib'].map((name) => [name, './infra/bundle/lazy-node-modules.ts']),
  ),
  plugins: [useLambdaCredentials(), dropUnusedErrors()],
});

export const bundleOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // An ES module takes a tenth longer to load, as importing from Node's own modules runs all their getters
  // (docs/decisions/0011).
  format: 'cjs',
  target: 'node24',
  minify: true,
  // esbuild can drop unused code from the SDK's ES modules, but not from its CommonJS.
  mainFields: ['module', 'main'],
  conditions: ['module'],
  legalComments: 'none',
  logLevel: 'silent',
  // Fail the build where code uses a name that a replacement does not export.
  logOverride: { 'import-is-undefined': 'error' },
} satisfies BuildOptions;

/**
 * Bundles each source, such as `functions/start-task.ts`, into its own directory below `outdir`, as one file with everything
 * in it. That includes the AWS SDK: the tested code is then the code that runs, it loads faster than the runtime's copy, and
 * the emulator has no copy. There are no source maps, which would be several times the size of the code.
 *
 * The same sources give the same bytes, so an unchanged function is not deployed again.
 *
 * @throws esbuild's BuildFailure, also when a plugin does not find the module that it replaces.
 */
export const bundle = async <Name extends string>(
  outdir: string,
  sources: Readonly<Record<Name, string>>,
  options: Pick<BuildOptions, 'alias' | 'plugins'> = {},
): Promise<Bundles<Name>> => {
  const names = Object.keys(sources) as Name[];
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: names.map((name) => ({ in: sources[name], out: `${name}/index` })),
    outdir,
    metafile: true,
    ...options,
  });
  const directories = names.map((name) => [name, join(outdir, name)] as const);
  await Promise.all(directories.map(([, directory]) => writePackageJson(directory)));
  return { code: Object.fromEntries(directories) as Record<Name, string>, metafile };
};

/** Bundles the functions of Cosecha, without what only slows their start. Throws as `bundle`. */
export const bundleFunctions = (outdir: string): Promise<Bundles<FunctionName>> =>
  bundle(
    outdir,
    Object.fromEntries(functionNames.map((name) => [name, `functions/${name}.ts`])) as Record<
      FunctionName,
      string
    >,
    withoutSlowCode(),
  );

/**
 * Declares the directory's `index.js` as CommonJS. Without it, the package.json of this repository would apply. Lambda also
 * finds an `index.cjs`, but the emulator does not (ministack/core/lambda_runtime.py).
 */
const writePackageJson = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"type":"commonjs"}\n');
};
