import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

/**
 * Where `npm start` serves, for as long as it does: `.cosecha/running.json` under the package, readable by its owner
 * only. The credentials are the emulator's own, which are worth nothing anywhere else.
 */
export type RunningSystem = {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

const schema = v.object({
  endpoint: v.pipe(v.string(), v.url()),
  region: v.string(),
  credentials: v.object({ accessKeyId: v.string(), secretAccessKey: v.string() }),
});

const fileIn = (root: string): string => join(root, '.cosecha', 'running.json');

/** What is served according to the file, or undefined without a readable one. Whether it still is, is not asked. */
export const readRunningSystem = async (root: string): Promise<RunningSystem | undefined> => {
  try {
    return v.parse(schema, JSON.parse(await readFile(fileIn(root), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Leaves word of what is served. A second `npm start` replaces the word of the first. */
export const announceRunningSystem = async (root: string, system: RunningSystem): Promise<void> => {
  // A file that is there keeps its mode, so it goes first.
  await rm(fileIn(root), { force: true });
  await writeFile(fileIn(root), `${JSON.stringify(system, undefined, 2)}\n`, { mode: 0o600 });
};

/** Takes that word back, unless somebody else has replaced it. */
export const withdrawRunningSystem = async (root: string, { endpoint }: RunningSystem): Promise<void> => {
  const announced = await readRunningSystem(root);
  if (announced?.endpoint === endpoint) await rm(fileIn(root), { force: true });
};
