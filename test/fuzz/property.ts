import type fc from 'fast-check';

/** Labels a case, for the distribution. */
export type See = (label: string) => void;

/** A claim about hostile input, and how cases that might refute it are made. */
export type FuzzProperty<Case = unknown> = {
  /** Its file, without the extension: `webhook/key-rotation`. */
  readonly name: string;
  readonly claim: string;
  /** Its share of the cases, relative to the other properties. */
  readonly weight: number;
  /** The least share of the cases that must have each label. Otherwise the property tests too little. */
  readonly expected: Readonly<Record<string, number>>;
  readonly cases: fc.Arbitrary<Case>;
  /** Throws if the case refutes the claim, and must depend on nothing but the case. */
  readonly check: (one: Case, see: See) => Promise<void>;
};

/** A property for the list of all, whose check is only called with its own cases. */
export const fuzzProperty = <Case>(property: FuzzProperty<Case>): FuzzProperty =>
  property as unknown as FuzzProperty;
