/**
 * A provider may refuse one user for a reason of its own, and not say so. After so many refusals of one start it is taken for that: while
 * 5 % of all are refused, three in a row are one start in 8,000.
 */
const refusalsOfTheRate = 2;

/** In seconds. Each pause is twice the one before it, up to the last. With that again and again, 6 h have some 360 tries. */
const [firstPause, maxPause] = [5, 60];

/** Longer than a provider asks for in practice. One wrong header must not hold a start for a day. */
const maxRetryAfterMs = 3_600_000;

/** Whether a start that was refused so often before shows how fast the provider takes starts. */
export const showsRate = (refusals: number): boolean => refusals < refusalsOfTheRate;

/** When a refused start may be tried again, by the `Retry-After` of its refusal, in milliseconds. An hour from now at most. */
export const retryAtOf = (notBefore: string | undefined, now: Date): number | undefined =>
  notBefore === undefined ? undefined : Math.min(Date.parse(notBefore), now.getTime() + maxRetryAfterMs);

/**
 * The time that gives a start its place. A refused one keeps that of its request, so it is first again. If the provider asked it to wait, or
 * refuses it again and again, it lets others pass until then.
 */
export const placeAt = (
  requestedAt: string,
  { refusals, notBefore }: { readonly refusals: number; readonly notBefore?: string | undefined },
  now: Date,
): string => {
  const again = refusals - refusalsOfTheRate;
  const pauseMs = again <= 0 ? 0 : 1_000 * Math.min(maxPause, firstPause * 2 ** (again - 1));
  const until = Math.max(now.getTime() + pauseMs, retryAtOf(notBefore, now) ?? 0);
  return until <= now.getTime() ? requestedAt : new Date(until).toISOString();
};
