import { type Random, randomOf } from '../../support/data/random.ts';
import { drawScenario, scenarios } from '../world/draw-scenario.ts';
import type { Part, Scenario } from '../world/scenario.ts';

/**
 * The scenario of that name; `seed-N` names the one that the seed N draws, and `plain-without-queue+sweep-from-8` one in which parts are
 * dead from the eighth second on. `random`: of a seed, from which its schedule is drawn next.
 */
export const findScenario = (name: string, random?: Random): Scenario => {
  const [, alive, dead, from] = /^(.*)-without-([a-z+]+)-from-(\d+)$/.exec(name) ?? [];
  if (alive !== undefined && dead !== undefined) {
    return {
      ...findScenario(alive, random),
      name,
      dead: { parts: dead.split('+') as Part[], from: Number(from) },
    };
  }
  const seed = /^seed-(\d+)$/.exec(name)?.[1];
  if (seed !== undefined)
    return drawScenario(random ?? randomOf(Number(seed)), randomOf(~Number(seed)), name);
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`There is no scenario ${name}.`);
  return found;
};
