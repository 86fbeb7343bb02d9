import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { connect } from '../cli/aws/deployment.ts';
import { serveConsoleOf } from '../cli/commands/console.ts';
import type { LocalSystem, Run } from './local-system.ts';
import { repository } from './paths.ts';
import { sandboxActions, sandboxState } from './sandbox-actions.ts';

/** Serves the console of the local stage, with every action and the panel of the sandbox. Returns its address. */
export const serveLocalConsole = async (system: LocalSystem, { show, atEnd }: Run): Promise<string> => {
  const { client } = system.emulator;
  const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client });
  const print = (lines: string | readonly string[]): void => {
    for (const line of [lines].flat()) show.note('console', line);
  };
  const { url, close } = await serveConsoleOf(deployment, {
    port: 0,
    allowed: true,
    more: sandboxActions(system),
    sandboxState: () => sandboxState(system),
    shell: {
      hint: print,
      fail: print,
      now: () => new Date(),
      sleep: (milliseconds) => delay(milliseconds, undefined, { ref: false }),
    },
  });
  atEnd(close);
  return url;
};
