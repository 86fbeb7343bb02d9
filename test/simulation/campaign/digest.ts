import { createHash } from 'node:crypto';
import type { Ran } from '../run-world.ts';
import { traced } from '../trace/trace.ts';

/** One seed in a hundred runs again in another process. */
export const runsAgain = (seed: number): boolean => seed % 100 === 0;

/** By the name of a seed or of a population: all that happened in it. */
export type Digests = Record<string, string>;

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Traces a world, and makes its digest: every step, the record, its task, and what was counted. */
export const digesting = () => {
  const { listener, text } = traced();
  const digest = ({ world }: Ran): string => {
    const ends = [world.record, [...world.tasks], [...world.counted], [...world.breakers]];
    return digestOf(`${text(world)}\n${JSON.stringify(ends)}`);
  };
  return { listener, digest };
};
