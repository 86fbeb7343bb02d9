/** The cost of an option. Flags, because one option may cost several. */
export const cost = { none: 0, fault: 1, preemption: 2, event: 4 } as const;

/** Something that can happen next, in one or more variants. */
export type Choosable = {
  /** For traces. */
  label(variant: number): string;
  /** The kind of fault or event that it is. Undefined for what only happens in another order. */
  kind?(variant: number): string | undefined;
  perform(variant: number): void;
};

/**
 * What can happen next. The first option is the default and free. Each of the others is a departure with a cost. Parallel
 * arrays, reused at every step, because they are filled some hundred thousand times per second.
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

  kind(index: number): string | undefined {
    return this.targets[index]?.kind?.(this.variants[index] ?? 0);
  }

  perform(index: number): void {
    this.targets[index]?.perform(this.variants[index] ?? 0);
  }
}
