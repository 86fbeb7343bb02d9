import { defineConfig } from 'vitest/config';
import { testTimeoutMs } from './test/e2e/windows.ts';

/** Scenarios that change what all share, the provider, the state machine or what is due: nothing else may run beside them. */
const alone = [
  'test/e2e/accept.test.ts',
  'test/e2e/breaker.test.ts',
  'test/e2e/burst.test.ts',
  'test/e2e/outage.test.ts',
  'test/e2e/webhook-wait.test.ts',
  'test/e2e/leaks/search.test.ts',
];

const e2e = {
  globalSetup: 'test/e2e/deployment.ts',
  setupFiles: ['test/e2e/support/trust.ts', 'test/e2e/support/explain-failure.ts'],
  // Scenarios mostly wait, so that many run at once.
  maxConcurrency: 24,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
};

/** Files share their modules: to load the CDK and the SDK anew for each would take two thirds of the time. */
const quick = { isolate: false, testTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { ...quick, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'simulation', include: ['test/simulation/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 120_000 } },
      {
        test: {
          ...e2e,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: alone,
          maxWorkers: 2,
          sequence: { concurrent: true, groupOrder: 1 },
        },
      },
      {
        test: {
          ...e2e,
          name: 'e2e-alone',
          include: alone,
          maxWorkers: 1,
          sequence: { concurrent: true, groupOrder: 2 },
        },
      },
    ],
  },
});
