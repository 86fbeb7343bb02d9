/**
 * A permit lets one start go. To take it is one conditional update of the shared time `next`, from which the next start may go. Each permit
 * moves `next` by the time of one start at the rate. This is the generic cell rate algorithm of ATM networks (ITU-T I.371).
 */

/** The result of an update of `next`. `throttled`: DynamoDB accepts no more writes to the item for now, so there are no permits. */
export type PermitAnswer =
  | { readonly kind: 'taken'; readonly next: number }
  | { readonly kind: 'refused'; readonly next: number | undefined }
  | { readonly kind: 'throttled' };

/**
 * `add` adds to `next` if it lies between `from` and `to`. `reset` sets it if it is absent, before `from`, or after `to`. In milliseconds
 * of the epoch.
 */
export type PermitUpdate =
  | { readonly kind: 'add'; readonly ms: number; readonly from: number; readonly to: number }
  | { readonly kind: 'reset'; readonly next: number; readonly from: number; readonly to?: number };

/** The item `permit` of the table `Breakers`. May throw, also after the update took effect. */
export interface PermitStore {
  update(update: PermitUpdate): Promise<PermitAnswer>;
}

export const permitItem = 'permit';

/**
 * How far `next` may lag behind the clock. So all starts of one second may come at once, which suits a provider that counts seconds. After
 * a pause, half as many may. A shorter time would reset `next` often at a busy rate. Each reset costs the starts of that moment two more
 * writes.
 */
export const creditMs = 1_000;

/**
 * No process or tick moves `next` further ahead than this. If it is further, the rate was raised or a clock was wrong. Only a dispatcher
 * corrects it. Otherwise processes with different clocks would undo each other's updates.
 */
const aheadMs = 2_000;

/**
 * Two calls may arrive some 120 ms closer together or farther apart than their releases. At a low rate, a provider that allows no burst
 * would refuse the second call for that. With 2.5 times as much between them, it refuses one in 160.
 */
const lowRate = 0.1;
const lateMs = 300;

/** The milliseconds that one start takes at this rate, rounded to microseconds because DynamoDB adds decimal numbers. */
export const stepMs = (perSecond: number): number =>
  Math.round(1_000_000 / perSecond) / 1_000 + (perSecond <= lowRate ? lateMs : 0);

/** The times between which `next` fits this rate. */
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

/**
 * Each refused update returns what is stored. An `add` can lose to a reset, and the reset to another one. The third try is then an `add`.
 */
const maxTries = 3;

/**
 * Takes a permit for one start. `known` is the `next` that this process saw last. `next` only grows, so if `known` is ahead of now, the
 * permit is refused without a write. Throws what the store throws.
 */
export const takePermit = async (
  store: PermitStore,
  known: number | undefined,
  perSecond: number,
  now: number,
): Promise<PermitAnswer> => {
  const isAhead = (next: number | undefined): boolean => next !== undefined && next > now;
  if (isAhead(known)) return { kind: 'refused', next: known };
  // If `known` is older, other processes have probably moved `next` since, unless nothing is being started.
  let isOld = known !== undefined && known < now - 2 * creditMs;
  let answer: PermitAnswer = { kind: 'refused', next: known };
  for (let tries = 0; tries < maxTries; tries += 1) {
    answer = await store.update(updateFor(isOld, perSecond, now));
    if (answer.kind !== 'refused' || isAhead(answer.next)) return answer;
    isOld = answer.next === undefined || answer.next < now - creditMs;
  }
  return answer;
};
