import { describe, expect, test } from 'vitest';
import { type Budget, upTo } from './scheduler/budget.ts';
import { explore, UnsteadyWorld } from './scheduler/explore.ts';
import { cost, type OptionList } from './scheduler/option.ts';
import { runSchedule, type Schedulable } from './scheduler/run-schedule.ts';

/** So many steps with the same options each: one that is free and others that cost what is said. */
const toy = (steps: number, prices: readonly number[], taken: string[]): Schedulable => {
  let step = 0;
  const choice = {
    label: (variant: number) => `${variant}`,
    perform: (variant: number) => {
      taken.push(`${variant}`);
      step += 1;
    },
  };
  return {
    takeUnsettled: () => false,
    stopped: () => false,
    chosen: () => undefined,
    listOptions: (into: OptionList) => {
      if (step === steps) return;
      into.add(choice, 0, cost.none);
      prices.forEach((price, index) => {
        into.add(choice, index + 1, price);
      });
    },
  };
};

const exploreToy = async (steps: number, prices: readonly number[], budget: Budget) => {
  const seen: string[] = [];
  const all = await explore(budget, async (_schedule, choose) => {
    const taken: string[] = [];
    await runSchedule(toy(steps, prices, taken), choose);
    seen.push(taken.join(''));
    return 'go on';
  });
  return { all, seen };
};

const choose = (of: number, some: number): number =>
  some === 0 ? 1 : (choose(of - 1, some - 1) * of) / some;

describe('the bounded search', () => {
  test.each([
    [4, 1, 4],
    [6, 2, 2],
    [7, 3, 3],
    [5, 4, 1],
  ])(
    'runs every schedule of %i steps with %i others and at most %i departures, each once',
    async (steps, others, most) => {
      const { all, seen } = await exploreToy(steps, Array(others).fill(cost.fault), upTo(most));
      // C(steps, n) places for n departures, and so many ways for each.
      const expected = Array.from(
        { length: Math.min(most, steps) + 1 },
        (_, n) => choose(steps, n) * others ** n,
      );
      expect(all).toBe(true);
      expect(seen).toHaveLength(expected.reduce((sum, some) => sum + some, 0));
      expect(new Set(seen).size).toBe(seen.length);
    },
  );

  test('stays within the budget of each kind', async () => {
    const { seen } = await exploreToy(5, [cost.fault, cost.preemption, cost.fault | cost.preemption], {
      faults: 1,
      preemptions: 2,
      events: 0,
      departures: 3,
    });
    const spent = seen.map((taken) => ({
      faults: [...taken].filter((variant) => variant === '1' || variant === '3').length,
      preemptions: [...taken].filter((variant) => variant === '2' || variant === '3').length,
    }));
    expect(Math.max(...spent.map(({ faults }) => faults))).toBe(1);
    expect(Math.max(...spent.map(({ preemptions }) => preemptions))).toBe(2);
    // None, one of each kind; then pairs and triples within it: 12, 13, 22, 23, 122 in any order.
    const places = choose(5, 2);
    expect(seen).toHaveLength(1 + 5 * 3 + places * (2 + 1 + 2) + choose(5, 3) * 3);
  });

  test('detects a world that it does not control', async () => {
    let runs = 0;
    const unsteady = explore(upTo(2), async (_schedule, chosen) => {
      runs += 1;
      await runSchedule(toy(4, runs < 3 ? [cost.fault, cost.fault] : [], []), chosen);
      return 'go on';
    });
    await expect(unsteady).rejects.toThrow(UnsteadyWorld);
  });
});
