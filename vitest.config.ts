import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { testTimeoutMs } from './test/e2e/windows.ts';

/** These have a deployment of their own, because they change what all others share: the provider, its answers, the permissions. */
const accept = ['test/e2e/accept.test.ts'];
const outage = ['test/e2e/outage.test.ts'];

/** It reads everything that the others left, and hides the messages of queues meanwhile. */
const alone = ['test/e2e/leaks/search.test.ts'];

/** Those of a real browser. Its own processes do the work, so that they start first, and unit tests fill the other core. */
const browser = [
  'test/unit/tools/cli/console/{browser,pictures}.test.ts',
  'test/unit/sandbox/widget/page.test.ts',
];

const e2e = {
  globalSetup: ['test/e2e/deployment.ts'],
  setupFiles: ['test/e2e/support/trust.ts', 'test/e2e/support/explain-failure.ts'],
  // Scenarios mostly wait, so that many run at once.
  maxConcurrency: 16,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
  // Two files of their own deployment, which mostly wait, and three of the shared one.
  maxWorkers: 5,
  // As in `unit`: to load the SDK anew for each file would take a quarter of the processor time of the tests.
  isolate: false,
};

/** Only a test that hangs exceeds it: the slowest takes 15 s, and two minutes on a busy machine. */
const limitMs = 900_000;

/** Vitest would leave one core idle. */
const quick = { testTimeout: limitMs, hookTimeout: limitMs, maxWorkers: availableParallelism() };

export default defineConfig({
  test: {
    projects: [
      // Projects of one group start in the order of their names.
      { test: { ...quick, name: 'browser', include: browser } },
      // Files share their modules: to load the CDK and the SDK anew for each would take two thirds of the time.
      {
        test: {
          ...quick,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: browser,
          isolate: false,
        },
      },
      { test: { ...quick, name: 'conformance', include: ['test/conformance/**/*.test.ts'] } },
      { test: { ...quick, name: 'simulation', include: ['test/simulation/**/*.test.ts'] } },
      { test: { ...quick, name: 'fuzz', include: ['test/fuzz/**/*.test.ts'] } },
      { test: { ...quick, name: 'second-opinion', include: ['test/second-opinion/*.test.ts'] } },
      // The first two take longest. `accept` deploys its stage by itself.
      {
        test: {
          ...e2e,
          name: 'e2e-accept',
          include: accept,
          globalSetup: [],
          setupFiles: [],
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...e2e, name: 'e2e-outage', include: outage, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...e2e,
          name: 'e2e-shared',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...accept, ...outage, ...alone],
          sequence: { concurrent: true, groupOrder: 1 },
        },
      },
      { test: { ...e2e, name: 'e2e-alone', include: alone, sequence: { concurrent: true, groupOrder: 2 } } },
    ],
  },
});
