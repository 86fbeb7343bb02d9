import type { Telemetry } from '../../observability/telemetry.ts';
import { hasLine, parseRateState, rateAt, rateItem } from '../../rate-limit/rate-state.ts';
import type { Place } from '../../rate-limit/start-line.ts';
import { readItem, type SharedItemStore } from '../../shared-item/shared-item.ts';
import { expectedStartAt, type Line, lanesOf } from './expected-start.ts';

/** Estimates when a start in line will be made, as an ISO time. Undefined if it does not wait, or if that is unknown. Never throws. */
export type EstimateStart = (extractionId: string) => Promise<string | undefined>;

export type StartEstimatesDeps = {
  /** The table `Breakers`. */
  readonly store: Pick<SharedItemStore, 'read'>;
  /** Reads the line, at most to the limit of pages. */
  readonly readLine: () => Promise<{
    readonly places: readonly Place[];
    readonly pages: number;
    readonly isComplete: boolean;
  }>;
  /** The rate set by hand or by the setting, in starts a second. Undefined if none is set. */
  readonly limit: () => Promise<number | undefined>;
  readonly isPaused: () => Promise<boolean>;
  readonly now: () => Date;
  readonly telemetry: Telemetry;
};

/**
 * How long a process trusts what it read, multiplied by the number of pages. A page takes 128 of the 3,000 read units that the index has
 * each second, and the dispatcher needs it too. An estimate is a point in time, so it does not age.
 */
const cacheMs = 3_000;

const nobody: Line = { lanes: [] };

/** The estimates of one process. Without a rate or a line, it reads one item every few seconds. */
export const startEstimates = (deps: StartEstimatesDeps): EstimateStart => {
  const { store, readLine, limit, isPaused, now, telemetry } = deps;
  let known: { readonly line: Line; readonly at: Date; readonly until: number } | undefined;

  const read = async (at: Date): Promise<{ readonly line: Line; readonly pages: number }> => {
    const { state } = await readItem(store, rateItem, parseRateState, at);
    const perSecond = rateAt(state, await limit(), at.getTime());
    const hasNone = perSecond === undefined || !hasLine(state, at.getTime()) || (await isPaused());
    if (hasNone) return { line: nobody, pages: 1 };
    const { places, pages, isComplete } = await readLine();
    const lanes = isComplete ? lanesOf(places) : [];
    return { line: { lanes, perSecond }, pages };
  };

  const current = async (): Promise<NonNullable<typeof known>> => {
    const at = now();
    if (known !== undefined && at.getTime() < known.until) return known;
    // This value holds during the read, and if it fails.
    known = { line: nobody, at, until: at.getTime() + cacheMs };
    const { line, pages } = await read(at);
    known = { line, at, until: at.getTime() + pages * cacheMs };
    return known;
  };

  return async (extractionId) => {
    try {
      const { line, at } = await current();
      const expected = expectedStartAt(line, extractionId, at);
      const time = now().toISOString();
      return expected !== undefined && expected < time ? time : expected;
    } catch (error) {
      telemetry.count('RateUnavailable');
      telemetry.failure('The line is not available; the answer has no expectedStartAt.', error);
      return undefined;
    }
  };
};
