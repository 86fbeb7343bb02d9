import { type LocalSystem, startLocalSystem } from '../../../tools/local/local-system.ts';
import { createRunDirectory } from '../../../tools/local/paths.ts';
import { createRunOutput } from '../../../tools/local/run-output.ts';
import type { StoppableRun } from '../../support/programs/run-until-stopped.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';

/** The app on a new emulator, and the sandbox as its provider. */
export type MeasuredSystem = LocalSystem & {
  /** Empty if the functions do not record their calls. */
  readonly ledger: Ledger;
};

/** The defaults, without a scheduled sweep that would disturb the measurement. */
const settings = { sweepEveryMinutes: '60' };

/**
 * Deploys the app to a new emulator. With `recorded`, every function records its calls in the ledger, which takes CPU.
 *
 * @throws ExpectedFailure if `AWS_ENDPOINT_URL` is set
 */
export const startMeasuredSystem = async (
  { stop, atEnd }: StoppableRun,
  { recorded }: { readonly recorded: boolean },
): Promise<MeasuredSystem> => {
  const directory = await createRunDirectory('load', new Date());
  const { ledger, emulatorEnv } = createLedger(directory);
  const show = createRunOutput(process.stderr, Date.now);
  const system = await startLocalSystem({
    directory,
    show,
    settings,
    atEnd,
    signal: stop,
    emulatorEnv: recorded ? emulatorEnv : {},
    // The emulator's first processes may take over 5 s for a delivery. After a timeout it would be repeated 30 s later,
    // during another batch.
    attemptTimeoutMs: 60_000,
  }).finally(() => show.rest());
  return { ...system, ledger };
};
