import type { SourcePatch } from '../../support/programs/patch-source.ts';

/** A defect that somebody could introduce: a patch of one source file of the product. */
export type PlantedFault = SourcePatch & {
  /** The invariant, the check of the enumeration, or the property of the fuzz that it breaks first. */
  readonly caughtBy: string;
  /**
   * What catches it: the life of one extraction by default, or many of them, in an outage, side by side, through what they share, of one login, in a mix, or in a crowd, the
   * enumeration of all decisions, or hostile input.
   */
  readonly world?:
    | 'outage'
    | 'population'
    | 'refusal'
    | 'neighbour'
    | 'sharing'
    | 'mix'
    | 'crowd'
    | 'enumeration'
    | 'fuzz';
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

/** Faults by their names: what the patched code does wrong. Without `replace`, the text is left out. */
export type Faults = Readonly<
  Record<string, Omit<PlantedFault, 'name' | 'replace' | 'world'> & { readonly replace?: string }>
>;
