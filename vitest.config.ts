import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { testTimeoutMs } from './test/e2e/time-limits.ts';
import { nameHangingTests } from './test/support/programs/name-hanging-tests.ts';
import { reportSkipped } from './test/support/programs/report-skipped.ts';

/** These have a deployment of their own, because they change what all others share: the provider, its answers, the permissions. */
const accept = ['test/e2e/accept.test.ts', 'test/e2e/emulator-access.test.ts'];
const outage = ['test/e2e/outage.test.ts'];

/** It lets starts wait in the deployment of the outages, after them. */
const line = ['test/e2e/line.test.ts'];

/** It loses everything that the others left, and restores it. */
const alone = ['test/e2e/restore.test.ts'];

/** Those of a real browser. */
const browser = [
  'test/unit/tools/cli/console/{console-in-chromium,layout,pictures}.test.ts',
  'test/unit/sandbox/widget/consent-page.test.ts',
];

/** Only a test that hangs exceeds it: the slowest takes 15 s, and two minutes on a busy machine. */
const limitMs = 900_000;

const limits = { testTimeout: limitMs, hookTimeout: limitMs };

/**
 * The first group, whose projects start in the order of their names. Two files of the end-to-end tests have a deployment of their
 * own, and mostly wait; three are of the shared one. What needs the processor comes last, and fills those pauses.
 */
const first = { sequence: { groupOrder: 0 }, maxWorkers: 5 };

const e2e = {
  ...first,
  globalSetup: ['test/e2e/deployment.ts'],
  setupFiles: [
    'test/e2e/support/trust-certificate.ts',
    'test/e2e/support/describe-extractions-on-failure.ts',
  ],
  // Scenarios mostly wait, so that many run at once.
  maxConcurrency: 16,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
  // As in `unit`: to load the SDK anew for each file would take a quarter of the processor time of the tests.
  isolate: false,
};

export default defineConfig({
  test: {
    reporters: ['default', reportSkipped, nameHangingTests(limitMs)],
    tags: [
      {
        name: 'slow',
        description: 'Only `npm run test:all` runs it (CONTRIBUTING.md, "What is proved where").',
      },
    ],
    projects: [
      { test: { ...limits, ...first, name: 'browser', include: browser } },
      {
        test: {
          ...limits,
          ...first,
          name: 'conformance',
          include: ['test/provider-conformance/**/*.test.ts'],
        },
      },
      { test: { ...limits, ...first, name: 'fuzz', include: ['test/fuzz/**/*.test.ts'] } },
      {
        test: {
          ...limits,
          ...first,
          name: 'simulation',
          include: ['test/{enumeration,simulation}/**/*.test.ts'],
        },
      },
      // `accept` deploys its stage by itself, and the other file none.
      { test: { ...e2e, name: 'e2e-accept', include: accept, globalSetup: [], setupFiles: [] } },
      { test: { ...e2e, name: 'e2e-outage', include: outage } },
      {
        test: {
          ...e2e,
          name: 'e2e-shared',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...accept, ...outage, ...line, ...alone],
          sequence: { ...first.sequence, concurrent: true },
        },
      },
      {
        test: {
          ...limits,
          name: 'unit',
          // To check each template by CloudFormation's rules would take longer than all else of a synthesis. test/second-opinion does.
          env: { CDK_VALIDATION: 'false' },
          include: ['test/{releases,unit}/**/*.test.ts'],
          exclude: browser,
          sequence: { groupOrder: 1 },
          // Vitest would leave one core idle.
          maxWorkers: availableParallelism(),
          // Files share their modules: to load the CDK and the SDK anew for each would take two thirds of the time.
          isolate: false,
        },
      },
      {
        test: {
          ...e2e,
          name: 'e2e-alone',
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...e2e, name: 'e2e-line', include: line, maxWorkers: 1, sequence: { groupOrder: 2 } } },
      {
        test: {
          ...limits,
          name: 'second-opinion',
          include: ['test/second-opinion/*.test.ts'],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
