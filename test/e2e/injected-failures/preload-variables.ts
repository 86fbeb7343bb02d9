import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * The environment in which every function loads preload.ts. It is bundled, because every process of a function loads it, and
 * as TypeScript that would take three times as long. Tests leave their faults in the directory `COSECHA_FAULTS`.
 */
export const faultsEnvironment = async (runDirectory: string) => {
  const directory = join(runDirectory, 'faults');
  await mkdir(directory);
  const outfile = join(runDirectory, 'preload.mjs');
  const entry = fileURLToPath(new URL('preload.ts', import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
  return { COSECHA_FAULTS: directory, NODE_OPTIONS: `--import=${pathToFileURL(outfile).href}` };
};
