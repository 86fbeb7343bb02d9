import type { Deployment } from '../cli/aws/deployment.ts';
import { readReconcileSettings } from '../cli/aws/read-reconcile-settings.ts';
import type { Shell } from '../cli/terminal/command-environment.ts';
import { acceptApi } from './checks/call-deployed-api.ts';
import type { Check, SharedContext } from './checks/check.ts';
import { findFakeProvider } from './checks/find-fake-provider.ts';
import { type CheckReport, runChecks } from './checks/run-checks.ts';
import { stackParts } from './checks/stack-parts.ts';

export type CheckStageOptions = {
  readonly checks: readonly Check[];
  readonly deployment: Deployment;
  /** How long the task runs that has to time out, in seconds. Default: until 20 s after the deadline of the stage. */
  readonly lateTaskSeconds?: number;
  readonly shell: CheckShell;
  /** Ends the checks. Those that have not ended are failed. */
  readonly stop: AbortSignal;
};

export type CheckShell = Pick<Shell, 'print' | 'hint' | 'wait' | 'now' | 'sleep' | 'randomId'>;

/** The deadline is counted from the request, and a task from its start, which comes later. */
const beyondDeadlineSeconds = 20;

/**
 * Runs the checks of a stage with a fake provider, and prints each result and a table. Returns the exit code: 0 if no check
 * failed. Throws CliError for a stage with another provider, in which nothing is done.
 */
export const checkStage = async (options: CheckStageOptions): Promise<number> => {
  const { checks, deployment, shell, stop } = options;
  const context = await prepare(options);
  const reports = await runChecks(checks, context, progressOn(shell, checks.length), stop);
  shell.wait(undefined);
  const failures = reports.filter(({ kind }) => kind === 'failed');
  shell.hint(['', ...tableOf(reports), '', summaryOf(reports, deployment.stackName)]);
  return failures.length === 0 && !stop.aborted ? 0 : 1;
};

/** Finds the fake provider, and shares new random keys with it. */
const prepare = async ({ deployment, lateTaskSeconds, shell }: CheckStageOptions): Promise<SharedContext> => {
  const { client, api } = deployment;
  const settings = await readReconcileSettings(deployment);
  const stack = stackParts(deployment);
  const fakeProvider = await findFakeProvider(deployment, await stack.functions());
  const randomKey = (): string => `${shell.randomId()}${shell.randomId()}`;
  await fakeProvider.share({ apiKey: randomKey(), signingKey: randomKey() });
  shell.hint(`New random keys are shared between ${deployment.stackName} and ${fakeProvider.stackName}.`);
  return {
    deployment,
    client,
    settings,
    stack,
    fakeProvider,
    received: [],
    api: acceptApi(api, shell.sleep),
    lateTaskSeconds: lateTaskSeconds ?? settings.timings.deadline + beyondDeadlineSeconds,
    startedAt: shell.now(),
    now: shell.now,
    randomId: shell.randomId,
  };
};

const signs = { passed: '✓', failed: '✗', skipped: '·' } as const;

/** Prints each check as it ends, and on a terminal what is still waited for. */
const progressOn = (shell: CheckShell, total: number) => {
  let ended = 0;
  return {
    onEnd: (report: CheckReport): void => {
      ended += 1;
      const { kind, id, seconds, explanation } = report;
      shell.wait(undefined);
      const place = `${String(ended).padStart(String(total).length)}/${total}`;
      shell.print(`${place} ${signs[kind]} ${id} (${seconds} s): ${explanation}`, { ...report });
    },
    onWait: (waiting: ReadonlyMap<string, string>): void => {
      const [oldest] = waiting;
      if (oldest !== undefined) shell.wait(`${waiting.size} running; ${oldest[0]} waits for ${oldest[1]}`);
    },
  };
};

const tableOf = (reports: readonly CheckReport[]): readonly string[] => {
  const width = Math.max(...reports.map(({ id }) => id.length));
  return reports.map(
    ({ kind, id, title }) => `${signs[kind]} ${kind.padEnd(7)}  ${id.padEnd(width)}  ${title}`,
  );
};

const summaryOf = (reports: readonly CheckReport[], stackName: string): string => {
  const count = (kind: CheckReport['kind']): number =>
    reports.filter((report) => report.kind === kind).length;
  return `${stackName}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped.`;
};
