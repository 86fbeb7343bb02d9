import { randomOf } from '../../support/random.ts';
import type { Scenario } from '../world/scenario.ts';
import { drawScenario, scenarios } from '../world/scenarios.ts';

export class UnknownScenario extends Error {
  override readonly name = 'UnknownScenario';
}

/** The scenario of that name; `seed-N` names the one that the seed N draws. */
export const findScenario = (name: string): Scenario => {
  const seed = /^seed-(\d+)$/.exec(name)?.[1];
  if (seed !== undefined) return drawScenario(randomOf(Number(seed)), randomOf(~Number(seed)), name);
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new UnknownScenario(`There is no scenario ${name}.`);
  return found;
};
