/**
 * A permit lets one start go. It is one conditional update of a shared time, `next`, from which the next start may go: the generic cell rate
 * algorithm, which ATM networks use (ITU-T I.371). Each start moves it by the time that one start takes at the rate.
 */

/** What an update of `next` brought. `throttled`: DynamoDB takes no more writes of the item now, so there are no permits either. */
export type PermitAnswer =
  | { readonly kind: 'taken'; readonly next: number }
  | { readonly kind: 'refused'; readonly next: number | undefined }
  | { readonly kind: 'throttled' };

/**
 * Adds to `next` if it lies between two times, or sets it if there is none, or it is older, or, if `to` says so, later. In milliseconds of the
 * epoch.
 */
export type PermitUpdate =
  | { readonly kind: 'add'; readonly ms: number; readonly from: number; readonly to: number }
  | { readonly kind: 'reset'; readonly next: number; readonly from: number; readonly to?: number };

/** The item `permit` of the table `Breakers`. May throw, before or after it took effect. */
export interface PermitStore {
  update(update: PermitUpdate): Promise<PermitAnswer>;
}

export const permitItem = 'permit';

/**
 * `next` may lag so far behind. So the starts of a second may come at once, as providers that count seconds allow, and after a pause half as
 * many. With less, a busy rate resets the time again and again, which costs each of the starts of that moment two more writes.
 */
export const creditMs = 1_000;

/**
 * No process and no tick takes further ahead. Beyond that the rate was raised, or a clock was wrong. Only a dispatcher corrects it: of processes
 * whose clocks differ, one would undo what the other took.
 */
const aheadMs = 2_000;

/**
 * Two calls come some 120 ms closer together or farther apart than their releases. At a low rate, a provider without a burst would refuse
 * the second for that alone. With 2.5 times as much between them, it refuses one in 160.
 */
const lowRate = 0.1;
const lateMs = 300;

/** The milliseconds that one start takes. To the microsecond, as DynamoDB adds decimal numbers. */
export const stepMs = (perSecond: number): number =>
  Math.round(1_000_000 / perSecond) / 1_000 + (perSecond <= lowRate ? lateMs : 0);

/** The times between which `next` is one that was taken at this rate. */
export const currentTimes = (perSecond: number, now: number) => ({
  from: now - creditMs,
  to: now + aheadMs + 2 * stepMs(perSecond),
});

const updateFor = (isOld: boolean, perSecond: number, now: number): PermitUpdate => {
  const step = stepMs(perSecond);
  if (!isOld) return { kind: 'add', ms: step, from: now - creditMs, to: now };
  const from = now - creditMs / 2;
  return { kind: 'reset', next: from + step, from };
};

/** A lost race shows what is stored. To add can lose against a reset, and a reset against another, and then adding is left. */
const maxTries = 3;

/**
 * Takes a permit for one start. `known`: the time that this process saw last, if any. It only grows, so that one ahead of now needs no write.
 * Throws what the store throws.
 */
export const takePermit = async (
  store: PermitStore,
  known: number | undefined,
  perSecond: number,
  now: number,
): Promise<PermitAnswer> => {
  const isAhead = (next: number | undefined): boolean => next !== undefined && next > now;
  if (isAhead(known)) return { kind: 'refused', next: known };
  // Others have probably moved what was seen a while ago, unless nobody starts anything.
  let isOld = known !== undefined && known < now - 2 * creditMs;
  let answer: PermitAnswer = { kind: 'refused', next: known };
  for (let tries = 0; tries < maxTries; tries += 1) {
    answer = await store.update(updateFor(isOld, perSecond, now));
    if (answer.kind !== 'refused' || isAhead(answer.next)) return answer;
    isOld = answer.next === undefined || answer.next < now - creditMs;
  }
  return answer;
};
