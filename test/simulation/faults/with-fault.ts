import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { deliberateFaults } from './deliberate-faults.ts';
import { patchSource } from './patch-source.ts';

/**
 * Run as a process of its own, with the name of a fault: loads the product with that fault in it, searches, and
 * prints what was found as JSON. The product needs no switch for it.
 */
const fault = deliberateFaults.find(({ name }) => name === process.argv[2]);
if (fault === undefined) throw new Error(`There is no fault ${process.argv[2]}.`);

const root = new URL('../../../', import.meta.url);
const patched = new URL(fault.file, root).href;
let loaded = false;
registerHooks({
  load: (url, context, nextLoad) => {
    const result = nextLoad(url, context);
    if (url !== patched) return result;
    loaded = true;
    return { ...result, source: patchSource(String(result.source), fault) };
  },
});

const { searchWithFault } = await import('./search-with-fault.ts');
if (!loaded) throw new Error(`${pathToFileURL(fault.file).href} was not loaded.`);
process.stdout.write(JSON.stringify(await searchWithFault(fault)));
