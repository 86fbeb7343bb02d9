import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

/**
 * Where `npm start` serves, for as long as it does: `.cosecha/running.json` under the package, readable by its owner
 * only. The credentials are the emulator's own, which are worth nothing anywhere else.
 */
export type LocalDeployment = {
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
export const readLocalDeployment = async (root: string): Promise<LocalDeployment | undefined> => {
  try {
    return v.parse(schema, JSON.parse(await readFile(fileIn(root), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Leaves word of what is served. A second `npm start` replaces the word of the first. */
export const writeLocalDeployment = async (root: string, system: LocalDeployment): Promise<void> => {
  // A file that is there keeps its mode, so it goes first.
  await rm(fileIn(root), { force: true });
  await writeFile(fileIn(root), `${JSON.stringify(system, undefined, 2)}\n`, { mode: 0o600 });
};

/** Takes that word back, unless somebody else has replaced it. */
export const removeLocalDeployment = async (root: string, { endpoint }: LocalDeployment): Promise<void> => {
  const announced = await readLocalDeployment(root);
  if (announced?.endpoint === endpoint) await rm(fileIn(root), { force: true });
};
