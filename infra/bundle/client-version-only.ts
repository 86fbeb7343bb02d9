import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

type Manifest = { readonly version: string };

/** Every word of the file that names its import of package.json, but for `.version` of it. */
const otherUses = (source: string): readonly string[] => {
  const [statement = '', name = ''] = /import (\w+) from "\.\.\/package\.json";/.exec(source) ?? [];
  if (name === '') return ['an import of another form'];
  return source.replace(statement, '').match(new RegExp(`\\b${name}\\b(?!\\.version\\b).*`, 'g')) ?? [];
};

/**
 * Leaves of each client's package.json, which it imports whole, the version that it puts into its user agent: 2 KB for
 * each client. Fails the build if a client asks for anything else in it, or none imports it any more.
 */
export const clientVersionOnly = (): Plugin => ({
  name: 'client-version-only',
  setup: ({ onResolve, onLoad, onEnd }) => {
    let met = 0;
    onResolve({ filter: /^\.\.\/package\.json$/ }, async ({ importer, resolveDir }) => {
      const [other] = otherUses(await readFile(importer, 'utf8'));
      if (other !== undefined) {
        return { errors: [{ text: `${importer} asks for more than the version: ${other}` }] };
      }
      met += 1;
      return { path: join(dirname(resolveDir), 'package.json'), namespace: 'client-version-only' };
    });
    onLoad({ filter: /.*/, namespace: 'client-version-only' }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as Manifest;
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    onEnd(() =>
      met === 0 ? { errors: [{ text: 'No client imports its package.json any more.' }] } : undefined,
    );
  },
});
