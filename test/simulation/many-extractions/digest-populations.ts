import { type Digests, digestOf, runsAgain } from '../campaign/digest.ts';
import { type Judged, traceOf } from './search.ts';

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
