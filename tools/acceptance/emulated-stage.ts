import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { connect } from '../cli/aws/deployment.ts';
import { CliError } from '../cli/terminal/errors.ts';
import { deployStack } from '../local/deploy.ts';
import { startEmulator } from '../local/emulator/emulator.ts';
import { repository } from '../local/paths.ts';
import { saveFunctionLogs } from '../local/save-function-logs.ts';
import { type CheckStageOptions, checkStage } from './check-stage.ts';
import type { Update } from './checks/check-upgrade.ts';
import { moveTime } from './move-time.ts';
import { acceptanceApp, emulatorLateTaskSeconds, emulatorSettings } from './settings.ts';

type EmulatedStageOptions = {
  readonly directory: string;
  /** Further environment variables of the emulator and its functions. */
  readonly env?: Record<string, string>;
  /** In place of `emulatorSettings`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onProgress?: (step: string) => void;
  readonly signal?: AbortSignal;
};

/** Starts an emulator that enforces IAM, and deploys the stage to it. */
export const startEmulatedStage = async (options: EmulatedStageOptions) => {
  const { directory, env = {}, settings = {}, onProgress = () => {}, signal } = options;
  const emulator = await startEmulator({ auth: true, directory, env, ...(signal && { signal }) });
  const moving = new AbortController();
  const stop = async (): Promise<void> => {
    moving.abort();
    await saveFunctionLogs(emulator, join(directory, 'functions.log'));
    await emulator.stop();
  };
  try {
    const context = { stage: LOCAL_STAGE, ...emulatorSettings, ...settings };
    const deployFrom = (own: string, { tree = repository, fails }: Update = {}) =>
      deployStack({
        emulator,
        app: acceptanceApp,
        tree,
        directory: own,
        onProgress,
        ...(signal && { signal }),
        context: { ...context, ...(fails && { failUpdate: 'true' }) },
      });
    const outputs = await deployFrom(directory);
    const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client: emulator.client });
    await moveTime(deployment, moving.signal);
    return {
      emulator,
      outputs,
      stop,
      deploy: async (update: Update) => {
        const own = await mkdtemp(join(directory, 'update-'));
        await deployFrom(own, update).catch((error: unknown) => {
          if (!update.fails || !(error instanceof CliError)) throw error;
        });
      },
      check: (options: Pick<CheckStageOptions, 'checks' | 'shell' | 'stop'>) =>
        checkStage({ ...options, deployment, lateTaskSeconds: emulatorLateTaskSeconds }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

export type EmulatedStage = Readonly<Awaited<ReturnType<typeof startEmulatedStage>>>;
