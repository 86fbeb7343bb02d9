import { inspect } from 'node:util';
import { defined } from '../../../lib/defined.ts';
import type { Deployment } from '../aws/deployment.ts';
import type { ConsoleAction, SandboxState } from '../console/actions/action-types.ts';
import { consoleActions } from '../console/actions/console-actions.ts';
import { type RunningConsole, serveConsole } from '../console/serve-console.ts';
import { consoleSources } from '../console/sources/console-sources-from-aws.ts';
import type { Shell } from '../terminal/command-environment.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import type { CommandContext } from './command-context.ts';

type ConsoleOptions = { readonly port: number; readonly actions?: true };

/** Between two reads of an open page. A read of 1,000 open extractions is 26 requests; the emulator is on this machine. */
const refreshEveryMs = { onAws: 5_000, emulated: 1_000 } as const;

type ServeOptions = {
  readonly port: number;
  /** Whether pages may change something. */
  readonly allowed: boolean;
  /** Further actions: those that drive the sandbox of the provider. */
  readonly more?: readonly ConsoleAction[];
  readonly sandboxState?: () => Promise<SandboxState>;
  readonly shell: Pick<Shell, 'hint' | 'fail' | 'now' | 'sleep'>;
};

/** Serves the console of a deployment. `npm start` does so too, for its own. Throws CliError if the port is taken. */
export const serveConsoleOf = (
  deployment: Deployment,
  { port, allowed, more = [], sandboxState, shell }: ServeOptions,
): Promise<RunningConsole> => {
  const { now, sleep } = shell;
  const sources = consoleSources(deployment, now);
  return serveConsole(port, {
    stage: deployment.stage,
    command: deployment.command,
    sources,
    actions: [...consoleActions(deployment, { allowed, sources, now }), ...more],
    ...defined({ sandboxState }),
    now,
    sleep,
    everyMs: deployment.isEmulated ? refreshEveryMs.emulated : refreshEveryMs.onAws,
    onAction: (line) => shell.hint(`${now().toISOString()}  ${line}`),
    onError: (error) => shell.fail((explainFailure(error) ?? inspect(error)).split('\n')),
  });
};

export const serve = async ({ port, actions }: ConsoleOptions, { shell, connect }: CommandContext) => {
  const deployment = await connect();
  const { url } = await serveConsoleOf(deployment, { port, allowed: actions === true, shell });
  shell.print(`The console of ${deployment.stackName}: ${url}`, { url });
  shell.hint('Only this machine reaches it, with this address. Ctrl-C ends it.');
  await new Promise<never>(() => undefined);
  return 0;
};
