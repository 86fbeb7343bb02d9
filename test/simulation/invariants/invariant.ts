import type { FactKind, Facts } from '../world/facts.ts';
import type { World } from '../world/world.ts';

/**
 * Checks one fact. Returns what is wrong, or undefined. Calls `premise` if the case of the invariant occurred, so that an
 * invariant that never applies is noticed.
 */
export type Check<Kind extends FactKind> = (
  fact: Facts[Kind],
  world: World,
  premise: () => void,
) => string | undefined;

/** A property that every world must have. */
export type Invariant = {
  readonly name: string;
  /** The invariant as a sentence. */
  readonly rule: string;
  /** Its assumptions, if it has any. */
  readonly needs?: string;
  /** Whether it also applies after a record was erased or lost, to the next record under its id. */
  readonly outlivesLoss?: true;
  readonly checks: { readonly [Kind in FactKind]?: Check<Kind> };
};
