import { join } from 'node:path';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { connect } from '../cli/aws/deployment.ts';
import { deployStack } from '../local/deploy.ts';
import { type Emulator, startEmulator } from '../local/emulator/emulator.ts';
import { repository } from '../local/paths.ts';
import { saveFunctionLogs } from '../local/save-function-logs.ts';
import { type CheckStageOptions, checkStage } from './check-stage.ts';
import { moveTime } from './move-time.ts';
import { acceptanceApp, emulatorLateTaskSeconds, emulatorSettings } from './settings.ts';

/** A stage with its fake provider on an emulator of its own. */
export type EmulatedStage = {
  readonly emulator: Emulator;
  /** The outputs of its stacks. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly check: (options: Pick<CheckStageOptions, 'checks' | 'shell' | 'stop'>) => Promise<number>;
  readonly stop: () => Promise<void>;
};

type EmulatedStageOptions = {
  /** That of the run. */
  readonly directory: string;
  /** Further environment variables of the emulator and its functions. */
  readonly env?: Record<string, string>;
  readonly onProgress?: (step: string) => void;
  readonly signal?: AbortSignal;
};

/** Starts an emulator that enforces IAM, and deploys the stage to it. */
export const startEmulatedStage = async ({
  directory,
  env = {},
  onProgress = () => {},
  signal,
}: EmulatedStageOptions): Promise<EmulatedStage> => {
  const emulator = await startEmulator({ auth: true, directory, env, ...(signal && { signal }) });
  const moving = new AbortController();
  const stop = async (): Promise<void> => {
    moving.abort();
    await saveFunctionLogs(emulator, join(directory, 'functions.log'));
    await emulator.stop();
  };
  try {
    const outputs = await deployStack({
      emulator,
      app: acceptanceApp,
      context: { stage: LOCAL_STAGE, ...emulatorSettings },
      directory,
      onProgress,
      ...(signal && { signal }),
    });
    await moveTime(emulator, outputs, moving.signal);
    return {
      ...{ emulator, outputs, stop },
      check: async (options) => {
        const deployment = await connect({ stage: LOCAL_STAGE, root: repository, client: emulator.client });
        return checkStage({ ...options, deployment, lateTaskSeconds: emulatorLateTaskSeconds });
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
