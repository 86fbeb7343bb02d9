import { registerHooks } from 'node:module';
import type { FuzzProperty } from '../property.ts';
import type { Mutant } from './mutants.ts';

const root = new URL('../../../', import.meta.url).href;

/** What is loaded anew for each mutant: the product, and what of the fuzz run holds on to it. */
const isOurs = (url: string): boolean =>
  /^(?:lib|test\/fuzz|test\/simulation)\//.test(url.slice(root.length));

const indexIn = (url: string | undefined): string | null =>
  url === undefined || !url.startsWith(root) ? null : new URL(url).searchParams.get('mutant');

/** The text of the product to be replaced is not there, or not there once: the list of mutants is out of date. */
export class MutantOutOfDate extends Error {
  override readonly name = 'MutantOutOfDate';
}

const faulty = (source: string, { name, file, from, to }: Mutant): string => {
  const parts = source.split(from);
  if (parts.length !== 2) throw new MutantOutOfDate(`${name}: found ${parts.length - 1} times in ${file}.`);
  return parts.join(to);
};

/**
 * Loads the property that is to notice over a product with the fault in it, beside every other instance of both: a
 * query in the module's address, handed on from importer to imported, tells them apart. No file is written.
 */
export const mutantLoader = (
  mutants: readonly Mutant[],
): ((mutant: Mutant) => Promise<FuzzProperty | undefined>) => {
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const index = indexIn(context.parentURL);
      return index === null || !resolved.url.startsWith(root) || !isOurs(resolved.url)
        ? resolved
        : { ...resolved, url: `${resolved.url}?mutant=${index}` };
    },
    load: (url, context, next) => {
      const loaded = next(url, context);
      const mutant = mutants[Number(indexIn(url) ?? -1)];
      if (mutant === undefined || url.split('?')[0] !== `${root}${mutant.file}`) return loaded;
      return { ...loaded, source: faulty(String(loaded.source), mutant) };
    },
  });
  return async (mutant) => {
    const address = `${root}test/fuzz/${mutant.caughtBy}.ts?mutant=${mutants.indexOf(mutant)}`;
    const exported = Object.values((await import(address)) as Record<string, FuzzProperty>);
    return exported.find(({ name }) => name === mutant.caughtBy);
  };
};
