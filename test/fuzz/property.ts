import fc from 'fast-check';

/** Labels a case, for the distribution. */
export type See = (label: string) => void;

/** A claim about hostile input, and how cases that might refute it are made. */
export type FuzzProperty = {
  /** Its file, without the extension: `webhook/bit-flips`. */
  readonly name: string;
  readonly claim: string;
  /** Its share of the cases, relative to the other properties. */
  readonly weight: number;
  /** The least share of the cases that must have each label. Otherwise the property tests too little. */
  readonly expected: Readonly<Record<string, number>>;
  readonly prepare: (see: See) => fc.IAsyncProperty<[unknown]>;
};

/** Makes a property. `check` throws if a case refutes the claim, and must depend on nothing but the case. */
export const fuzzProperty = <Case>(property: {
  readonly name: string;
  readonly claim: string;
  readonly weight: number;
  readonly expected: Readonly<Record<string, number>>;
  readonly cases: fc.Arbitrary<Case>;
  readonly check: (one: Case, see: See) => Promise<void>;
}): FuzzProperty => {
  const { cases, check, ...rest } = property;
  return {
    ...rest,
    prepare: (see) => {
      // The cases after a failure are fast-check's, on its way to the smallest.
      let counting = true;
      return fc.asyncProperty(cases as fc.Arbitrary<unknown>, async (one) => {
        try {
          await check(one as Case, (label) => {
            if (counting) see(label);
          });
        } catch (error) {
          counting = false;
          throw error;
        }
      });
    },
  };
};
