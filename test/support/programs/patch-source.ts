import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { replaceCode } from '../../../tools/acceptance/replace-code.ts';

/** A planted fault: one piece of code of one source file of the product, replaced by another. */
export type SourcePatch = {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file (`replaceCode`). */
  readonly find: string;
  readonly replace: string;
};

/** The module does not load the file of the patch. */
class PatchDoesNotFit extends Error {
  override readonly name = 'PatchDoesNotFit';
}

const root = new URL('../../../', import.meta.url).href;
const isOurs = (url: string): boolean => url.startsWith(root) && !url.includes('/node_modules/');

/** The sources without types, by their addresses. To strip them anew for each fault would take half of the time of its import. */
const stripped = new Map<string, string>();

const withoutTypes = (url: string): string => {
  const path = url.split('?')[0] ?? url;
  const source = stripped.get(path) ?? stripTypeScriptTypes(readFileSync(new URL(path), 'utf8'));
  stripped.set(path, source);
  return source;
};

/**
 * Imports a module, by its path from the root, with everything that it imports of this repository loaded anew and the
 * fault in it. Instances without the fault, or with another one, stay as they are: a query in the module's address,
 * handed on from importer to imported, distinguishes them. No file is written, and the product needs no switch for it.
 */
export const importPatched = async <Module>(module: string, patch: SourcePatch): Promise<Module> => {
  // As URLs write a query, in which no quote stays as it is.
  const query = `?${new URLSearchParams({ fault: patch.name })}`;
  const patched = `${root}${patch.file}${query}`;
  let fits = false;
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const resolved = nextResolve(specifier, context);
      return context.parentURL?.endsWith(query) && isOurs(resolved.url)
        ? { ...resolved, url: `${resolved.url}${query}` }
        : resolved;
    },
    load: (url, context, nextLoad) => {
      if (url === patched) {
        fits = true;
        const loaded = nextLoad(url, context);
        return { ...loaded, source: replaceCode(String(loaded.source), patch.find, patch.replace) };
      }
      if (!url.endsWith(`.ts${query}`)) return nextLoad(url, context);
      return { format: 'module', source: withoutTypes(url), shortCircuit: true };
    },
  });
  try {
    const imported: Module = await import(`${root}${module}${query}`);
    if (!fits) throw new PatchDoesNotFit(`${patch.name}: ${module} does not load ${patch.file}.`);
    return imported;
  } finally {
    hooks.deregister();
  }
};
