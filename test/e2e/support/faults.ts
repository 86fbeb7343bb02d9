import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { FaultRule } from '../faults/rule.ts';
import { parseRuleName, ruleName } from '../faults/rule-name.ts';

const directory = inject('cosecha').faultsDirectory;

/** A fault that waits to be met. */
export type PlannedFault = {
  /** As often as it was to happen. */
  readonly wasMet: () => boolean;
  /** Takes back what of it has not happened yet. */
  readonly cancel: () => Promise<void>;
};

/** Plans a fault; see test/e2e/faults/rule.ts. It is gone once met as often as it says. */
export const planFault = async (rule: FaultRule): Promise<PlannedFault> => {
  const id = randomUUID();
  const path = join(directory, ruleName(id, (rule.skip ?? 0) + (rule.times ?? 1)));
  // Written aside first, so that no function reads half a rule.
  await writeFile(`${path}.part`, JSON.stringify(rule));
  await rename(`${path}.part`, path);
  const left = () => readdirSync(directory).filter((file) => parseRuleName(file)?.id === id);
  return {
    wasMet: () => left().length === 0,
    cancel: async () => {
      for (const file of left()) await rm(join(directory, file), { force: true });
    },
  };
};
