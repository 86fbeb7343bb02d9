import type { Shell } from '../cli/terminal/command-environment.ts';
import { exitCodes } from '../cli/terminal/errors.ts';
import { describeFailure } from '../cli/terminal/explain-failure.ts';
import { nodeShell } from '../cli/terminal/node-shell.ts';
import { createRunDirectory } from '../local/paths.ts';
import { laterTree } from './check-out-version.ts';
import { upgradeChecks } from './checks/check-upgrade.ts';
import { startEmulatedStage } from './emulated-stage.ts';
import { type AcceptOptions, readAcceptOptions } from './read-accept-options.ts';
import { runOnAws } from './run-on-aws.ts';
import { upgradeSettings } from './settings.ts';

/** `npm run accept`: deploys a stage with a fake provider, checks it, and destroys it. Returns the exit code. */
const main = async (args: readonly string[]): Promise<number> => {
  try {
    const options = readAcceptOptions(args);
    if (options === 'help') return 0;
    const shell = nodeShell({ json: options.json === true });
    // Ctrl-C ends what runs, and the stage is then destroyed. A second one leaves it.
    const stop = shell.interrupted();
    return await (options.emulator ? runOnEmulator : runOnAws)(options, shell, stop);
  } catch (error) {
    // Ctrl-C, before there was anything to check.
    if (error instanceof Error && error.name === 'AbortError') return exitCodes.interrupted;
    const { lines, code } = describeFailure(error, process.env.AWS_PROFILE);
    nodeShell({ json: args.includes('--json') }).fail(lines);
    return code;
  }
};

const runOnEmulator = async ({ checks, upgrade }: AcceptOptions, shell: Shell, stop: AbortSignal) => {
  const directory = await createRunDirectory('accept', shell.now());
  const onProgress = (step: string): void => shell.hint(`… ${step}`);
  const stage = await startEmulatedStage({
    directory,
    onProgress,
    signal: stop,
    ...(upgrade && { settings: upgradeSettings }),
  });
  try {
    const chosen = upgrade ? upgradeChecks(laterTree(upgrade, directory), stage.deploy) : checks;
    return await stage.check({ checks: chosen, shell, stop });
  } finally {
    await stage.stop();
    shell.hint(`Stopped. Logs: ${directory}`);
  }
};

// An open keep-alive connection would otherwise delay the end of the process.
process.exit(await main(process.argv.slice(2)));
