import { LambdaClient } from '@aws-sdk/client-lambda';
import { acceptApi } from '../../acceptance/checks/api.ts';
import { chooseChecks } from '../../acceptance/checks/checks.ts';
import type { AcceptContext } from '../../acceptance/checks/context.ts';
import { findFakeProvider } from '../../acceptance/checks/fake-provider.ts';
import { openInbox } from '../../acceptance/checks/inbox.ts';
import { type CheckReport, runChecks } from '../../acceptance/checks/run-checks.ts';
import { stackParts } from '../../acceptance/checks/stack-parts.ts';
import type { Deployment } from '../aws/deployment.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import type { Shell } from '../terminal/shell.ts';
import type { Context } from './context.ts';

export type AcceptOptions = {
  readonly only?: readonly string[] /** In seconds. */;
  readonly lateTask?: number;
};

/** The deadline is counted from the request, and a task from its start, which comes later. */
const beyondDeadlineSeconds = 20;

/** Runs the checks of a stage with a fake provider, and prints each result and a table. */
export const accept = async (options: AcceptOptions, { shell, connect }: Context): Promise<number> => {
  const chosen = chooseChecks(options.only);
  const deployment = await connect();
  const stop = new AbortController();
  // A second Ctrl-C ends the process, as without a handler.
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const context = await prepare(deployment, options, shell);
  const reports = await runChecks(chosen, context, progressOn(shell, chosen.length), stop.signal);
  shell.wait(undefined);
  const failures = reports.filter(({ kind }) => kind === 'failed');
  shell.hint(['', ...tableOf(reports), '', summaryOf(reports, deployment.stackName)]);
  return failures.length === 0 && !stop.signal.aborted ? 0 : 1;
};

/** Finds the fake provider, and shares new random keys with it. */
const prepare = async (
  deployment: Deployment,
  { lateTask }: AcceptOptions,
  shell: Shell,
): Promise<Omit<AcceptContext, 'signal' | 'waitFor' | 'sleep'>> => {
  const { client, output, api } = deployment;
  const settings = await readReconcileSettings(new LambdaClient(client), output('ReconcileFunctionName'));
  const stack = stackParts(deployment);
  const fakeProvider = await findFakeProvider(deployment, await stack.functions());
  const randomKey = (): string => `${shell.randomId()}${shell.randomId()}`;
  await fakeProvider.share({ apiKey: randomKey(), signingKey: randomKey() });
  shell.hint(`New random keys are shared between ${deployment.stackName} and ${fakeProvider.stackName}.`);
  const inboxes = new Map<string, ReturnType<typeof openInbox>>();
  const inbox: AcceptContext['inbox'] = (name) => {
    const url = fakeProvider.output(name);
    if (url === undefined) return undefined;
    const opened = inboxes.get(url) ?? openInbox(deployment, url);
    inboxes.set(url, opened);
    return opened;
  };
  return {
    ...{ deployment, client, settings, stack, fakeProvider, inbox },
    api: acceptApi(api, shell.sleep),
    lateTaskSeconds: lateTask ?? settings.timings.deadline + beyondDeadlineSeconds,
    startedAt: shell.now(),
    now: shell.now,
    randomId: shell.randomId,
  };
};

const signs = { passed: '✓', failed: '✗', skipped: '·' } as const;

/** Prints each check as it ends, and on a terminal what is still waited for. */
const progressOn = (shell: Shell, total: number) => {
  let ended = 0;
  return {
    onEnd: (report: CheckReport): void => {
      ended += 1;
      const { kind, id, seconds, why } = report;
      shell.wait(undefined);
      const place = `${String(ended).padStart(String(total).length)}/${total}`;
      shell.print(`${place} ${signs[kind]} ${id} (${seconds} s): ${why}`, { ...report });
    },
    onWait: (waiting: ReadonlyMap<string, string>): void => {
      const [oldest] = waiting;
      if (oldest !== undefined) shell.wait(`${waiting.size} running; ${oldest[0]} waits for ${oldest[1]}`);
    },
  };
};

/** A line for each check, in the order of the table, with what it shows. */
export const tableOf = (reports: readonly CheckReport[]): readonly string[] => {
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
