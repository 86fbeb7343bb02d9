import { defineConfig } from 'vitest/config';

/** Scenarios that take the provider down, or all that the machine has: nothing else may run beside them. */
const alone = ['test/e2e/burst.test.ts', 'test/e2e/outage.test.ts'];

const e2e = {
  globalSetup: 'test/e2e/deployment.ts',
  setupFiles: 'test/e2e/support/trust.ts',
  // Scenarios mostly wait, so that many run at once.
  maxConcurrency: 24,
  testTimeout: 120_000,
  hookTimeout: 180_000,
};

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], testTimeout: 20_000 } },
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
