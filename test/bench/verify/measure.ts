import type { Random } from '../../support/random.ts';
import { shuffled } from '../shuffled.ts';
import type { Contender } from './contenders.ts';
import { NotACheck } from './prove.ts';

/**
 * Short, so that what else the machine does weighs on all turns of a round alike: with 40 ms the medians differed
 * by 4 % from run to run. A collection of garbage falls into some of the turns only, and little of it shows in a
 * median; turns of 40 ms, which show it, gave ours 0.02 to 0.05 more.
 */
const turnMs = 8;
const warmUpMs = 400;

/**
 * Milliseconds of processor time of this process, its threads for garbage and compiling included: what else runs
 * on the machine is not counted, as it would be by a clock on the wall.
 */
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds for so many checks one after the other, each of which has to be a yes. */
const timed = async ({ name, right }: Contender, calls: number): Promise<number> => {
  const begun = spentMs();
  for (let call = 0; call < calls; call += 1) {
    const verdict = right();
    // Only what makes its caller wait is waited for.
    if (!(typeof verdict === 'boolean' ? verdict : await verdict)) {
      throw new NotACheck(`${name} refuses in the end what it took before.`);
    }
  }
  return spentMs() - begun;
};

/** Until the compiler is done with it. Returns how many calls make a turn by then. */
const warmUp = async (contender: Contender): Promise<number> => {
  let calls = 1;
  for (let spent = 0; spent < warmUpMs; ) {
    const took = await timed(contender, calls);
    spent += took;
    // At most ten times as many as before: the first calls say little.
    calls = Math.max(1, Math.round(calls * Math.min(10, turnMs / Math.max(took, 0.001))));
  }
  return calls;
};

/**
 * In every round each contender has one turn, in an order drawn anew. Returns, for each, the microseconds of a
 * call in every round.
 */
export const measure = async (
  contenders: readonly Contender[],
  rounds: number,
  random: Random,
): Promise<readonly (readonly number[])[]> => {
  const turns: { contender: Contender; calls: number; micros: number[] }[] = [];
  for (const contender of contenders) turns.push({ contender, calls: await warmUp(contender), micros: [] });
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, calls, micros } of shuffled(turns, () => random.next())) {
      micros.push(((await timed(contender, calls)) * 1000) / calls);
    }
  }
  return turns.map(({ micros }) => micros);
};
