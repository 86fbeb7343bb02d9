import { type Random, shuffled } from '../../support/data/random.ts';
import { type Contender, NotACheck } from './contenders.ts';

/**
 * Short, so that other load affects all turns of a round alike. With 40 ms the medians differed by 4 % from run to run.
 * Garbage collection falls into some turns only, so that a median shows little of it. Turns of 40 ms, which show it, gave
 * ours 0.02 to 0.05 more.
 */
const turnMs = 8;
const warmUpMs = 400;

/**
 * CPU milliseconds of this process, with its garbage collection and compiler threads. Unlike wall-clock time it does not
 * include other processes.
 */
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds for so many checks in sequence. Throws unless each accepts. */
const timed = async ({ name, right }: Contender, calls: number): Promise<number> => {
  const begun = spentMs();
  for (let call = 0; call < calls; call += 1) {
    const verdict = right();
    // Awaits promises only.
    if (!(typeof verdict === 'boolean' ? verdict : await verdict)) {
      throw new NotACheck(`${name} refuses in the end what it took before.`);
    }
  }
  return spentMs() - begun;
};

/** Warms up until the compiler has optimized the check. Returns how many calls fill a turn. */
const warmUp = async (contender: Contender): Promise<number> => {
  let calls = 1;
  for (let spent = 0; spent < warmUpMs; ) {
    const took = await timed(contender, calls);
    spent += took;
    // At most ten times as many as before, because the first calls are slow.
    calls = Math.max(1, Math.round(calls * Math.min(10, turnMs / Math.max(took, 0.001))));
  }
  return calls;
};

/**
 * Runs one turn of each contender per round, in random order. Returns the microseconds per call of each, by round.
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
