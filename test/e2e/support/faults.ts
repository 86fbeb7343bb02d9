import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { FaultRule } from '../faults/rule.ts';

/** A fault that waits to be met. */
export type PlannedFault = { readonly wasMet: () => boolean };

/** Plans a fault; see test/e2e/faults/rule.ts. It is gone once met. */
export const planFault = async (rule: FaultRule): Promise<PlannedFault> => {
  const path = join(inject('cosecha').faultsDirectory, `${randomUUID()}.json`);
  // Written aside first, so that no function reads half a rule.
  await writeFile(`${path}.part`, JSON.stringify(rule));
  await rename(`${path}.part`, path);
  return { wasMet: () => !existsSync(path) };
};
