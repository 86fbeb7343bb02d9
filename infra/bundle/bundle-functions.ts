import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { type FunctionName, functionNames } from '../function-names.ts';
import { clientVersionOnly } from './client-version-only.ts';
import { dropUnusedErrors } from './drop-unused-errors.ts';
import { standIns } from './stand-ins.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where the code of each function is: a directory with an `index.js` that exports `handler`. */
export type FunctionCode = Readonly<Record<FunctionName, string>>;

export type Bundles = {
  readonly code: FunctionCode;
  /** esbuild's account of what went into each, by path below the root of the repository. */
  readonly metafile: Metafile;
};

/** As all bundles are made: what is measured and tested apart from the functions is made so too. */
export const bundlePlugins = (): Plugin[] => [standIns(), clientVersionOnly(), dropUnusedErrors()];

export const bundleOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // As an ES module it takes a tenth longer to load: importing from Node's own modules runs every getter that
  // these have, and Node loads CommonJS with less ado (docs/decisions/0011).
  format: 'cjs',
  target: 'node24',
  minify: true,
  // The SDK's ES modules can be taken apart, its CommonJS cannot.
  mainFields: ['module', 'main'],
  conditions: ['module'],
  legalComments: 'none',
  logLevel: 'silent',
  // A stand-in that lacks what somebody asks of it is an error, however it is asked.
  logOverride: { 'import-is-undefined': 'error' },
} satisfies BuildOptions;

/**
 * Bundles every function into a directory of its own below `outdir`: one file with everything in it. The AWS SDK too:
 * what is tested is what runs, a bundled client loads faster than the runtime's copy, and the emulator has none. No
 * source maps: they would be several times the code.
 *
 * The same sources make the same bytes, so that an unchanged function is not deployed again.
 *
 * @throws esbuild's BuildFailure, also when a plugin does not find what it is for.
 */
export const bundleFunctions = async (outdir: string): Promise<Bundles> => {
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    metafile: true,
    plugins: bundlePlugins(),
  });
  const code = Object.fromEntries(functionNames.map((name) => [name, join(outdir, name)])) as FunctionCode;
  await Promise.all(Object.values(code).map(sayCommonJs));
  return { code, metafile };
};

/**
 * Node takes `.js` for what the nearest package.json says, which within this repository is the repository's. Lambda
 * would also find an `index.cjs`, but the emulator would not (ministack/core/lambda_runtime.py).
 */
const sayCommonJs = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"type":"commonjs"}\n');
};
