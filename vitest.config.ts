import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'simulation', include: ['test/simulation/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 120_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/e2e/deployment.ts',
          setupFiles: 'test/e2e/support/trust.ts',
          // Scenarios mostly wait, so that many run at once. The files share one provider, which some of them take
          // down or give another key, so that they run one after the other.
          maxWorkers: 1,
          sequence: { concurrent: true },
          maxConcurrency: 32,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
