import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { FaultRule } from '../faults/rule.ts';
import { parseRuleName, ruleName } from '../faults/rule-name.ts';
import { waitMs } from '../windows.ts';

const directory = inject('cosecha').faultsDirectory;

/** A fault that will be injected. */
export type PlannedFault = {
  /** Whether it was injected as often as planned. */
  readonly wasInjected: () => boolean;
  /** Removes the rest of it. */
  readonly cancel: () => Promise<void>;
};

/** Plans a fault (test/e2e/faults/rule.ts). It is removed once it was injected as often as planned. */
export const planFault = async (rule: FaultRule): Promise<PlannedFault> => {
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

/**
 * Plans that every such request kills its process, until it is cancelled. For a fault of a call that only a new process makes:
 * a later request of the same invocation is killed, until a new process has made the call.
 */
export const planKills = (
  rule: Pick<FaultRule, 'operation' | 'contains' | 'during'>,
): Promise<PlannedFault> => planFault({ ...rule, when: 'before', times: 10_000, effect: { kind: 'exit' } });

/** Repeats `attempt` until the fault was injected. For calls that a function may skip, or fail before, on a busy machine. */
export const untilInjected = async <T>(fault: PlannedFault, attempt: () => Promise<T>): Promise<T> => {
  const deadline = Date.now() + waitMs;
  let result = await attempt();
  while (!fault.wasInjected() && Date.now() < deadline) result = await attempt();
  if (!fault.wasInjected()) throw new Error(`The fault was not injected in ${waitMs} ms.`);
  return result;
};
