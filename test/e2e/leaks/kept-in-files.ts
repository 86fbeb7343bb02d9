import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Location, SearchedItem } from './searched-item.ts';

/** Every file under a directory, by its path in it. A missing directory has none. */
export async function* keptInFiles(
  directory: string,
  location: Location = 'file',
): AsyncGenerator<SearchedItem, void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // A temporary file may have been removed.
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes !== undefined) yield { location, name: relative(directory, path), bytes };
  }
}
