/** What an option takes from the budget of a schedule. Flags, as one option may take of several. */
export const cost = { none: 0, fault: 1, preemption: 2, event: 4 } as const;

/** Something that can happen next, in one way or another. */
export type Choosable = {
  /** In a few words, for a trace. */
  label(variant: number): string;
  perform(variant: number): void;
};

/**
 * What may happen next. The first is what happens by itself; each of the others departs from that and costs
 * something. Parallel arrays, used again at every step: they are filled some hundred thousand times a second.
 */
export class OptionList {
  readonly targets: Choosable[] = [];
  readonly variants: number[] = [];
  readonly costs: number[] = [];

  clear(): void {
    this.targets.length = 0;
    this.variants.length = 0;
    this.costs.length = 0;
  }

  add(target: Choosable, variant: number, price: number): void {
    this.targets.push(target);
    this.variants.push(variant);
    this.costs.push(price);
  }

  get size(): number {
    return this.targets.length;
  }

  label(index: number): string {
    return this.targets[index]?.label(this.variants[index] ?? 0) ?? 'nothing';
  }

  perform(index: number): void {
    this.targets[index]?.perform(this.variants[index] ?? 0);
  }
}
