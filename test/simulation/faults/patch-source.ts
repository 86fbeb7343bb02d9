import type { DeliberateFault } from './deliberate-fault.ts';

/** The patch no longer fits the source: it was changed, and the fault has to be looked at again. */
export class PatchDoesNotFit extends Error {
  override readonly name = 'PatchDoesNotFit';
}

/** The source with the fault in it. */
export const patchSource = (source: string, { name, file, find, replace }: DeliberateFault): string => {
  const times = source.split(find).length - 1;
  if (times !== 1) throw new PatchDoesNotFit(`${name}: its text occurs ${times} times in ${file}, not once.`);
  return source.replace(find, () => replace);
};
