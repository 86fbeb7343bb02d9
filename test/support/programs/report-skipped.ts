import type { Reporter, TestCase } from 'vitest/node';
import { skipped } from './describe-if-installed.ts';

/** Why a test was skipped, if its own code did so. Tests that a filter leaves out have no reason. */
const reasonOf = (test: TestCase): readonly string[] => {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return [result.note];
  return test.fullName.startsWith(skipped) ? [test.fullName.slice(skipped.length).split(' > ')[0] ?? ''] : [];
};

/** Prints last how many tests a run has skipped, and why. */
export const reportSkipped: Reporter = {
  onTestRunEnd: (modules) => {
    const reasons = modules.flatMap(({ children }) => [...children.allTests('skipped')].flatMap(reasonOf));
    for (const [reason, tests] of Map.groupBy(reasons, (one) => one)) {
      console.log(`Skipped ${tests?.length} tests: ${reason}.`);
    }
  },
};
