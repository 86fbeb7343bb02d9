import type { Invoker } from '#lib/extraction/plan.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { type Random, randomOf, shuffled } from '../support/data/random.ts';
import { type Chain, type Choose, Known, runChain } from './decision-chain.ts';
import { allRecords, countKept, invokersFor, positionsFor, variantsOf } from './records.ts';

const known = new Known();

export type Start = readonly [Extraction, Invoker, Date];

/** Every valid record, everybody who asks, and every position of the clock, in an order in which neighbours differ; or every tenth. */
export const allStarts = async (every = 1): Promise<readonly Start[]> => {
  const starts = (await allRecords()).flatMap((record) =>
    invokersFor(record).flatMap((invoker) =>
      positionsFor(record, invoker).flatMap((at) =>
        variantsOf(record, at).map((one) => [one, invoker, at] as const),
      ),
    ),
  );
  return shuffled(starts, randomOf(1).next).filter((_, index) => index % every === 0);
};

/** Takes the chains of one start, with at most one departure, until `take` returns false. Returns how many decisions were new. */
const enumerateFrom = async (
  [record, invoker, at]: Start,
  explored: Set<string>,
  take: (chain: Chain) => boolean,
): Promise<number | undefined> => {
  let path: { chosen: number; readonly ways: number }[] = [];
  for (let decisions = 1; ; decisions += 1) {
    let depth = 0;
    let hasDeparted = false;
    const way: Choose['way'] = (plain, departures, state) => {
      if (depth === path.length) {
        const key = JSON.stringify([state(), hasDeparted]);
        if (explored.has(key)) throw known;
        explored.add(key);
        path.push({ chosen: 0, ways: plain + (hasDeparted ? 0 : departures) });
      }
      const { chosen = 0 } = path[depth] ?? {};
      depth += 1;
      hasDeparted ||= chosen >= plain;
      return chosen;
    };
    const chain = await runChain(record, invoker, at, {
      way,
      passes: countKept(record) <= 1,
      changes: countKept(record) === 0,
    });
    if (chain !== undefined && !take(chain)) return undefined;
    path = path.slice(0, path.findLastIndex(({ chosen, ways }) => chosen + 1 < ways) + 1);
    const last = path.at(-1);
    if (last === undefined) return decisions;
    last.chosen += 1;
  }
};

/**
 * Takes every chain of these with at most one departure: the clock passes a limit, or another process changes the record. A state that was
 * explored before is not explored again. Returns how many decisions there are.
 */
export const enumerate = async (
  starts: readonly Start[],
  take: (chain: Chain) => boolean,
): Promise<number> => {
  const explored = new Set<string>();
  let decisions = 0;
  for (const start of starts) {
    const found = await enumerateFrom(start, explored, take);
    if (found === undefined) break;
    decisions += found;
  }
  return decisions;
};

/** Draws chains with up to three departures. */
export const drawChains = async (
  { below, pick }: Random,
  starts: readonly Start[],
  chains: number,
  take: (chain: Chain) => boolean,
): Promise<void> => {
  for (let drawn = 0; drawn < chains; drawn += 1) {
    let left = 3;
    const way: Choose['way'] = (plain, departures) => {
      if (left === 0 || departures === 0 || below(2) === 0) return below(plain);
      left -= 1;
      return plain + below(departures);
    };
    const chain = await runChain(...pick(starts), { way, passes: true, changes: true });
    if (chain !== undefined && !take(chain)) return;
  }
};
