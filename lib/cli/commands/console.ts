import { inspect } from 'node:util';
import { consoleSources } from '../aws/console-sources.ts';
import { serveConsole } from '../console/serve-console.ts';
import type { Context } from '../context.ts';
import { explainFailure } from '../explain-failure.ts';

export type ConsoleOptions = { readonly port: number };

/** Between two reads of an open page. A read of 1,000 open extractions is 26 requests. */
const refreshEveryMs = 5_000;

/** Serves the console until the process is ended. */
export const serve = async ({ port }: ConsoleOptions, { shell, connect }: Context): Promise<number> => {
  const deployment = await connect();
  const { url } = await serveConsole(port, {
    stage: deployment.stage,
    sources: consoleSources(deployment, shell.now),
    now: shell.now,
    sleep: shell.sleep,
    everyMs: refreshEveryMs,
    onError: (error) => shell.fail((explainFailure(error) ?? inspect(error)).split('\n')),
  });
  shell.print(`The console of ${deployment.stackName}: ${url}`, { url });
  shell.hint('Only this machine reaches it, with this address. Ctrl-C ends it.');
  await new Promise<never>(() => undefined);
  return 0;
};
