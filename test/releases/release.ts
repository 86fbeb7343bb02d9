import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { read } from '../unit/docs/pages.ts';

export const version = (JSON.parse(read('package.json')) as { readonly version: string }).version;

/** Whether the first of two versions is the earlier one. Prereleases count as their release. */
export const isBefore = (one: string, other: string): boolean =>
  one.replace(/-.*/, '').localeCompare(other.replace(/-.*/, ''), 'en', { numeric: true }) < 0;

/** The folders of this directory, in the order of their versions. */
export const releases: readonly string[] = readdirSync(import.meta.dirname)
  .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  .toSorted((one, other) => (isBefore(one, other) ? -1 : 1));

/** Reads a JSON file that a release left. */
export const readRelease = (release: string, file: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, release, file), 'utf8'));
