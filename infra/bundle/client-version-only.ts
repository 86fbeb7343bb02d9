import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

type Manifest = { readonly version: string };

/** Every use that the file makes of its import of package.json, except `.version`. */
const otherUses = (source: string): readonly string[] => {
  const [statement = '', name = ''] = /import (\w+) from "\.\.\/package\.json";/.exec(source) ?? [];
  if (name === '') return ['an import of another form'];
  return source.replace(statement, '').match(new RegExp(`\\b${name}\\b(?!\\.version\\b).*`, 'g')) ?? [];
};

/**
 * Each AWS client imports its whole package.json for the version in its user agent. This plugin keeps only the version,
 * which saves 2 KB per client. It fails the build if a client uses anything else of it, or if no client imports it.
 */
export const clientVersionOnly = (): Plugin => ({
  name: 'client-version-only',
  setup: ({ onResolve, onLoad, onEnd }) => {
    let replaced = 0;
    onResolve({ filter: /^\.\.\/package\.json$/ }, async ({ importer, resolveDir }) => {
      const [other] = otherUses(await readFile(importer, 'utf8'));
      if (other !== undefined) {
        return { errors: [{ text: `${importer} uses more than the version: ${other}` }] };
      }
      replaced += 1;
      return { path: join(dirname(resolveDir), 'package.json'), namespace: 'client-version-only' };
    });
    onLoad({ filter: /.*/, namespace: 'client-version-only' }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as Manifest;
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    onEnd(() => (replaced === 0 ? { errors: [{ text: 'No client imports its package.json.' }] } : undefined));
  },
});
