import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LOCAL_STAGE } from '../../lib/aws/stage.ts';
import { deployStack } from '../local/deploy.ts';
import { withoutAws } from '../local/emulator/aws-environment.ts';
import { type Emulator, startEmulator } from '../local/emulator/emulator.ts';
import { repository } from '../local/paths.ts';
import { saveFunctionLogs } from '../local/save-function-logs.ts';
import { moveTime } from './move-time.ts';
import { emulatorLateTaskSeconds, emulatorSettings } from './settings.ts';

/** A stage with its fake provider on an emulator of its own. */
export type EmulatedStage = {
  readonly emulator: Emulator;
  /** The outputs of both stacks. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Runs `cosecha accept` with these arguments. With `inherit`, its output goes to this terminal. */
  readonly accept: (args: readonly string[], output: 'inherit' | 'pipe') => Promise<AcceptRun>;
  readonly stop: () => Promise<void>;
};

export type AcceptRun = { readonly code: number; readonly stdout: string; readonly stderr: string };

const cli = join(repository, 'tools', 'cli', 'cosecha.js');

export type EmulatedStageOptions = {
  /** That of the run. */
  readonly directory: string;
  /** Further environment variables of the emulator and its functions. */
  readonly env?: Record<string, string>;
  readonly onProgress?: (step: string) => void;
  readonly signal?: AbortSignal;
};

/** Starts an emulator that enforces IAM, and deploys both stacks to it. */
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
      context: { stage: LOCAL_STAGE, ...emulatorSettings },
      directory,
      onProgress,
      ...(signal && { signal }),
    });
    await moveTime(emulator, outputs, moving.signal);
    return { emulator, outputs, stop, accept: (args, output) => runAccept(emulator, args, output) };
  } catch (error) {
    await stop();
    throw error;
  }
};

const runAccept = async (
  { awsEnv }: Emulator,
  args: readonly string[],
  output: 'inherit' | 'pipe',
): Promise<AcceptRun> => {
  const late = ['--late-task', `${emulatorLateTaskSeconds}s`];
  const child = spawn(process.execPath, [cli, '--stage', LOCAL_STAGE, 'accept', ...late, ...args], {
    env: { ...withoutAws(process.env), ...awsEnv },
    stdio: ['ignore', output, output],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr?.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? 1, stdout, stderr };
};
