import * as v from 'valibot';
import { defined } from '../defined.ts';
import type { BreakerState } from './breaker-state.ts';

const time = v.pipe(v.number(), v.finite());
const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(3_600));
const held = v.object({ until: time, seconds, failedProbe: v.exactOptional(v.string()) });

const schemas = {
  count: v.pipe(v.number(), v.integer(), v.minValue(0)),
  failing: v.array(v.string()),
  opened: v.object({
    since: time,
    until: time,
    groups: v.optional(v.record(v.string(), held), {}),
    seconds,
    probe: v.exactOptional(v.object({ id: v.string(), until: time })),
    // It is only shown, so one of another form must not let calls pass.
    cause: v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/))), undefined),
  }),
  paused: v.object({ since: time, reason: v.string() }),
};

/** The longest pause that a setting allows is 3,600 s, and a lease is shorter. A minute is for clocks that differ. */
const farthestMs = 3_660_000;

/** The field, or undefined if it is of another form. */
const fieldOf = <Name extends keyof typeof schemas>(
  name: Name,
  stored: unknown,
): v.InferOutput<(typeof schemas)[Name]> | undefined => {
  const parsed = v.safeParse(schemas[name], Object(stored)[name]);
  return parsed.success ? parsed.output : undefined;
};

/**
 * The state as it is stored, field by field. A field that is missing, of another form, or further ahead than a pause can be
 * counts for nothing: a damaged item, or that of a newer version, must hold no call. `now` is in milliseconds.
 */
export const parseBreakerState = (
  stored: unknown,
  now: number,
): { readonly state: BreakerState; readonly isDamaged: boolean } => {
  const count = fieldOf('count', stored);
  const failing = fieldOf('failing', stored);
  const parsed = fieldOf('opened', stored);
  const isNear = (end = 0): boolean => end <= now + farthestMs;
  const opened =
    parsed !== undefined &&
    [parsed, parsed.probe, ...Object.values(parsed.groups)].every((pause) => isNear(pause?.until))
      ? defined(parsed)
      : undefined;
  const paused = fieldOf('paused', stored);
  const isMissing = (name: 'opened' | 'paused', field: unknown): boolean =>
    field === undefined && Object(stored)[name] !== undefined;
  const isDamaged =
    count === undefined ||
    failing === undefined ||
    isMissing('opened', opened) ||
    isMissing('paused', paused);
  return { state: { count: count ?? 0, failing: failing ?? [], ...defined({ opened, paused }) }, isDamaged };
};
