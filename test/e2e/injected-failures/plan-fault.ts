import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultRule } from './fault-rule.ts';

/** A fault that will be injected. */
export type PlannedFault = {
  /** Whether it was injected as often as planned. */
  readonly wasInjected: () => boolean;
  /** Removes the rest of it. */
  readonly cancel: () => Promise<void>;
};

/** Plans a fault (fault-rule.ts) in the directory `COSECHA_FAULTS`. */
export const planFaultIn = async (directory: string, rule: FaultRule): Promise<PlannedFault> => {
  const { times = 1 } = rule;
  const files = Array.from({ length: times }, () => join(directory, `${randomUUID()}.json`));
  for (const file of files) await writeFile(file, JSON.stringify(rule));
  return {
    wasInjected: () => !files.some(existsSync),
    cancel: async () => {
      for (const file of files) await rm(file, { force: true });
    },
  };
};
