import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { digestOfPopulation } from '../many-extractions/digest-populations.ts';
import { findCase, judge } from '../many-extractions/search.ts';
import { type Digests, digesting } from './digest.ts';
import { runSeed } from './search-random.ts';

const here = fileURLToPath(import.meta.url);

const digestAgain = async (name: string): Promise<string> => {
  const population = findCase(name);
  if (population !== undefined) return digestOfPopulation(await judge(population));
  const { listener, digest } = digesting();
  return digest((await runSeed(Number(name.split('-')[1]), listener)).ran);
};

/** Runs seeds and populations again, in a process of their own. Returns the names of those in which anything is otherwise. */
export const findUnrepeatable = async (digests: Digests): Promise<readonly string[]> => {
  const names = Object.keys(digests);
  const { stdout } = await promisify(execFile)(process.execPath, [here, ...names], { maxBuffer: 2 ** 26 });
  const again: Digests = JSON.parse(stdout);
  return names.filter((name) => again[name] !== digests[name]);
};

if (process.argv[1] === here) {
  const again: Digests = {};
  for (const name of process.argv.slice(2)) again[name] = await digestAgain(name);
  console.log(JSON.stringify(again));
}
