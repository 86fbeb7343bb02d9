import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultRule, parseRuleName, ruleName } from './fault-rule.ts';

/** A fault that will be injected. */
export type PlannedFault = {
  /** Whether it was injected as often as planned. */
  readonly wasInjected: () => boolean;
  /** Removes the rest of it. */
  readonly cancel: () => Promise<void>;
};

/** Plans a fault (rule.ts) in the directory `COSECHA_FAULTS`. It is removed once it was injected as often as planned. */
export const planFaultIn = async (directory: string, rule: FaultRule): Promise<PlannedFault> => {
  const id = randomUUID();
  const path = join(directory, ruleName(id, rule.times ?? 1));
  // Renamed into place, so that no function reads half a rule.
  await writeFile(`${path}.part`, JSON.stringify(rule));
  await rename(`${path}.part`, path);
  const left = () => readdirSync(directory).filter((file) => parseRuleName(file)?.id === id);
  return {
    wasInjected: () => left().length === 0,
    cancel: async () => {
      // A function that uses the rule up renames its file, so one pass may miss it.
      for (let files = left(); files.length > 0; files = left()) {
        for (const file of files) await rm(join(directory, file), { force: true });
      }
    },
  };
};
