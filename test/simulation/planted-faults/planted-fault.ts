import type { SourcePatch } from '../../support/programs/patch-source.ts';

/** A defect that somebody could introduce: a patch of one source file of the product. */
export type PlantedFault = SourcePatch & {
  /** What the patched code does wrong. */
  readonly does: string;
  /** The invariant, or the check of the enumeration, that it breaks first. */
  readonly caughtBy: string;
  /**
   * What catches it: the life of one extraction by default, or many of them, in an outage, side by side, through what they share, of one login, in a mix, or in a crowd, or the
   * enumeration of all decisions.
   */
  readonly world?:
    | 'outage'
    | 'population'
    | 'refusal'
    | 'neighbour'
    | 'sharing'
    | 'mix'
    | 'crowd'
    | 'enumeration';
  /** The seed at which a random search begins, for what few seeds show. 1 by default. */
  readonly firstSeed?: number;
  /**
   * The scenario that is searched, and the most departures of each kind; or only random schedules, for what needs
   * several departures. By default all scenarios are searched with one departure, and then at random.
   */
  readonly where?:
    | 'at random'
    | {
        readonly scenario: string;
        readonly faults?: number;
        readonly preemptions?: number;
        readonly events?: number;
        /** The step of the first departure, for what only a late pair of departures shows. 0 by default. */
        readonly from?: number;
        /** The first departures, as `step.index`, for what only three or more of them show. The others are searched. */
        readonly after?: string;
      };
};

/** Faults by name. Without `replace`, the text is left out. */
export type Faults = Readonly<
  Record<string, Omit<PlantedFault, 'name' | 'replace' | 'world'> & { readonly replace?: string }>
>;
