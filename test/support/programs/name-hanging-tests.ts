import type { Reporter, TestModule } from 'vitest/node';

/** The tests of a deployment wait for it, and so does the hook of their file. */
const waitsLonger = ({ project }: TestModule): boolean => project.name.startsWith('e2e');

/** What of a file has not ended: the first of it is what hangs, if its tests run one after another. */
const unended = ({ relativeModuleId, children }: TestModule): string => {
  const [first = 'what it imports'] = [...children.allTests('pending')].map(({ fullName }) => fullName);
  return `${relativeModuleId}: ${first}`;
};

/**
 * Names a test file in which nothing has ended for a minute, or for five minutes if it waits for a deployment: a call in it hangs or loops.
 * A loop never gives the test's own limit its turn. So a file without progress for longer than that limit, `limitMs`, ends the run.
 */
export const nameHangingTests = (limitMs: number): Reporter => {
  /** When the file began, or when a test of it ended last. */
  const running = new Map<
    string,
    { readonly module: TestModule; readonly since: number; readonly isNamed?: true }
  >();
  // Vitest makes another object for a file whose tests a filter leaves out.
  const keyOf = ({ project, relativeModuleId }: TestModule): string => `${project.name} ${relativeModuleId}`;
  const progress = (module: TestModule): void =>
    void running.set(keyOf(module), { module, since: Date.now() });
  const check = (): void => {
    for (const [key, { module, since, isNamed }] of running) {
      const waited = Date.now() - since;
      const seconds = Math.round(waited / 1_000);
      if (isNamed === undefined && waited >= (waitsLonger(module) ? 300_000 : 50_000)) {
        console.error(`Nothing has ended for ${seconds} s. It hangs, loops or is slow: ${unended(module)}`);
        running.set(key, { module, since, isNamed: true });
      }
      if (waited < limitMs + 60_000) continue;
      console.error(`The run ends, as nothing has ended for ${seconds} s: ${unended(module)}`);
      process.exit(1);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    onTestRunStart: () => {
      timer = setInterval(check, 5_000).unref();
    },
    onTestModuleQueued: progress,
    onTestCaseResult: ({ module }) => progress(module),
    onTestModuleEnd: (module) => void running.delete(keyOf(module)),
    onTestRunEnd: () => clearInterval(timer),
  };
};
