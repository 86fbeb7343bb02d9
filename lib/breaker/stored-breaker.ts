import * as v from 'valibot';
import { defined } from '../defined.ts';
import type { ParseState } from '../shared-item/shared-item.ts';
import type { BreakerState } from './breaker-state.ts';

/** The longest pause that a setting allows is 3,600 s, and a turn is shorter. One minute is added because clocks differ. */
const maxAheadMs = 3_660_000;

const time = v.pipe(v.number(), v.finite());
// The cause is only displayed. So an invalid one is dropped, and the breaker stays open.
const cause = v.fallback(v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/))), undefined);

const schemasAt = (now: number) => {
  const near = v.pipe(time, v.maxValue(now + maxAheadMs));
  const turn = v.object({ at: near, holder: v.exactOptional(v.string()) });
  const count = v.pipe(time, v.minValue(0));
  return {
    opened: v.object({ since: time, failing: turn, others: turn, taken: count, cause }),
    group: v.union([
      v.object({
        name: v.string(),
        failed: v.array(v.tuple([v.string(), time])),
        acceptedAt: v.exactOptional(time),
        passesUntil: v.exactOptional(near),
        opened: v.exactOptional(v.object({ since: time, pause: count, turn, cause })),
      }),
      v.pipe(
        v.tupleWithRest([v.string(), v.nullable(time)], v.tuple([v.string(), time])),
        v.transform(([name, acceptedAt, ...failed]) => ({
          name,
          failed,
          ...(acceptedAt === null ? {} : { acceptedAt }),
        })),
      ),
    ]),
  };
};

/**
 * Parses the breakers of a caller, part by part. A part that is invalid, or further ahead than a pause can be, is ignored. A damaged item,
 * or an item of a newer version, must not hold a start.
 */
export const parseBreakerState: ParseState<BreakerState> = (stored, now) => {
  const schemas = schemasAt(now);
  let isDamaged = false;
  const partOf = <Part>(schema: v.GenericSchema<unknown, Part>, part: unknown): Part | undefined => {
    const parsed = v.safeParse(schema, part);
    isDamaged ||= !parsed.success;
    return parsed.success ? parsed.output : undefined;
  };
  const { acceptedAt, groups = stored === undefined ? [] : undefined, opened } = Object(stored);
  const state = defined({
    acceptedAt: partOf(v.optional(time), acceptedAt),
    groups: (partOf(v.array(v.unknown()), groups) ?? []).flatMap((one) => partOf(schemas.group, one) ?? []),
    opened: partOf(v.optional(schemas.opened), opened),
  });
  return { state, isDamaged };
};

/**
 * Formats the breakers of a caller for the table. Most groups have only their last accepted start and what failed since. Each of these
 * becomes a list, which is shorter than an object with names: each KB of the item costs a write unit.
 */
export const formatBreakerState = (state: BreakerState): object => ({
  ...state,
  groups: state.groups.map((group) => {
    const { name, failed, acceptedAt, ...others } = group;
    return Object.keys(others).length === 0 ? [name, acceptedAt ?? null, ...failed] : group;
  }),
});
