import { invariants } from './invariants/all.ts';
import type { Check } from './invariants/invariant.ts';
import type { OptionList } from './scheduler/option.ts';
import { type Choose, runSchedule } from './scheduler/run-schedule.ts';
import type { FactKind, Facts } from './world/facts.ts';
import type { Scenario } from './world/scenario.ts';
import { World } from './world/world.ts';

export type Violation = { readonly invariant: string; readonly what: string };

export type Ran = {
  readonly world: World;
  readonly violation: Violation | undefined;
  readonly steps: number;
};

/** What tallies and traces listen to. */
export type Listener = {
  readonly premise?: (invariant: string) => void;
  readonly counted?: (what: string) => void;
  /** Whether an invariant may be broken, which is then no violation. */
  readonly mayBreak?: (invariant: string) => boolean;
  readonly fact?: <Kind extends FactKind>(kind: Kind, content: Facts[Kind], world: World) => void;
  readonly chosen?: (world: World, step: number, index: number, options: OptionList) => void;
};

type Held = { readonly name: string; readonly check: Check<FactKind>; readonly outlivesLoss: boolean };

const byKind = new Map<FactKind, Held[]>();
for (const { name, checks, outlivesLoss = false } of invariants) {
  for (const [kind, check] of Object.entries(checks)) {
    const held = byKind.get(kind as FactKind) ?? [];
    held.push({ name, check: check as Check<FactKind>, outlivesLoss });
    byKind.set(kind as FactKind, held);
  }
}

/** Runs one schedule of a scenario, and checks every fact against every invariant. Stops at the first violation. */
export const runWorld = async (scenario: Scenario, choose: Choose, listener: Listener): Promise<Ran> => {
  let violation: Violation | undefined;
  let steps = 0;
  const fact = <Kind extends FactKind>(kind: Kind, content: Facts[Kind], world: World): void => {
    if (violation !== undefined) return;
    listener.fact?.(kind, content, world);
    for (const { name, check, outlivesLoss } of byKind.get(kind) ?? []) {
      if (world.losses > 0 && !outlivesLoss) continue;
      const what = check(content, world, () => listener.premise?.(name));
      if (what === undefined || listener.mayBreak?.(name) === true) continue;
      violation = { invariant: name, what };
      return;
    }
  };
  const world = new World(scenario, {
    fact,
    stopped: () => violation !== undefined,
    counted: (what) => listener.counted?.(what),
    chosen: (its, step, index, options) => {
      steps = step;
      listener.chosen?.(its, step, index, options);
    },
  });
  const end = await runSchedule(world.kernel, choose);
  fact('end', { endless: end === 'endless' }, world);
  return { world, violation, steps };
};
