import type { FactKind, Facts } from '../world/facts.ts';
import type { World } from '../world/world.ts';

/**
 * Looks at one fact. Returns what is wrong, or undefined. Calls `premise` where what the invariant is about did
 * come up, so that one which never applies is seen not to.
 */
export type Check<Kind extends FactKind> = (
  fact: Facts[Kind],
  world: World,
  premise: () => void,
) => string | undefined;

/** Something that holds in every world. */
export type Invariant = {
  readonly name: string;
  /** The invariant in a sentence. */
  readonly rule: string;
  /** What it takes for granted; nothing where absent. */
  readonly needs?: string;
  /** Whether it holds of a record that was made anew too, after the one before it under the same id was lost. */
  readonly outlivesLoss?: true;
  readonly checks: { readonly [Kind in FactKind]?: Check<Kind> };
};
