import { expect, test } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { nameHangingTests } from '../../support/programs/name-hanging-tests.ts';

const moduleOf = (project: string, ...pending: readonly string[]) =>
  ({
    project: { name: project },
    relativeModuleId: `test/${project}.test.ts`,
    children: { allTests: () => pending.map((fullName) => ({ fullName })) },
  }) as unknown as TestModule;

const watch = () => {
  const time = { ms: 0 };
  const [printed, ended] = [[] as string[], [] as number[]];
  const reporter = nameHangingTests({
    limitMs: 900_000,
    now: () => time.ms,
    print: (line) => printed.push(line),
    end: () => ended.push(time.ms),
  });
  const at = (seconds: number) => {
    time.ms = seconds * 1_000;
    reporter.check();
  };
  return { at, printed, ended, reporter: reporter as Required<Reporter> & typeof reporter };
};

test('a file in which nothing ends is named once within a minute, and ends the run after the limit of a test', () => {
  const { at, printed, ended, reporter } = watch();
  const module = moduleOf('unit', 'what loops', 'the next');
  reporter.onTestModuleQueued(module);
  at(30);
  reporter.onTestCaseResult({ module } as TestCase);
  at(75);
  expect(printed).toEqual([]);
  at(80);
  at(85);
  expect(printed).toEqual([
    'Nothing has ended for 50 s. It hangs, loops or is slow: test/unit.test.ts: what loops',
  ]);
  at(989);
  expect(ended).toEqual([]);
  at(990);
  expect(ended).toEqual([990_000]);
});

test('a file that waits for a deployment has five minutes, and one that has ended is not named', () => {
  const { at, printed, reporter } = watch();
  const [waiting, ended] = [moduleOf('e2e-shared'), moduleOf('unit')];
  reporter.onTestModuleQueued(waiting);
  reporter.onTestModuleQueued(ended);
  reporter.onTestModuleEnd(ended);
  at(299);
  expect(printed).toEqual([]);
  at(300);
  expect(printed).toEqual([
    'Nothing has ended for 300 s. It hangs, loops or is slow: test/e2e-shared.test.ts: what it imports',
  ]);
});
