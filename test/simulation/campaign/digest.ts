import { createHash } from 'node:crypto';
import { type Judged, traceOf } from '../many-extractions/search.ts';
import type { Ran } from '../run-world.ts';
import { traced } from '../trace/trace.ts';

/** One seed in a hundred runs again in another process. */
export const runsAgain = (seed: number): boolean => seed % 100 === 0;

/** By the name of a seed or of a population: all that happened in it. */
export type Digests = Record<string, string>;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Traces a world, and makes its digest: every step, the record, its task, and what was counted. */
export const digesting = () => {
  const { listener, text } = traced();
  const digest = ({ world }: Ran): string => {
    const ends = [world.record, [...world.tasks], [...world.counted], [...world.breakers]];
    return digestOf(`${text(world)}\n${JSON.stringify(ends)}`);
  };
  return { listener, digest };
};

export const digestOfPopulation = (judged: Judged): string => {
  const { extractions, counted } = judged.service;
  return digestOf(`${traceOf(judged)}\n${JSON.stringify([[...extractions], counted])}`);
};

/** Of the populations whose seeds run again. */
export const digestsOf = (judged: readonly Judged[]): Digests =>
  Object.fromEntries(
    judged.flatMap((one) => {
      const seed = /^[a-z]+-(\d+)$/.exec(one.found.name)?.[1];
      return seed !== undefined && runsAgain(Number(seed)) ? [[one.found.name, digestOfPopulation(one)]] : [];
    }),
  );
