import { readFileSync } from 'node:fs';

const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'console.css': 'text/css; charset=utf-8',
    'console.js': 'text/javascript; charset=utf-8',
    'console.svg': 'image/svg+xml',
  }),
);

/** A file that pages refer to. It lies beside this module, and in the package beside the bundle. */
export const readAsset = (name: string) => {
  const type = types.get(name);
  if (type === undefined) return undefined;
  return { type, body: readFileSync(new URL(`./${name}`, import.meta.url), 'utf8') };
};
