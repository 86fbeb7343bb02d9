import { patientClient, promptClient } from '../../../lib/aws/wiring/client-options.ts';

/** Longer than any function of ours may run but start-task, so that the function's own timeout decides. */
const STRETCHED_MS = 30_000;

/**
 * Gives calls to AWS more time than the deployed functions do. DynamoDB answers in milliseconds; the emulator, one
 * process beside many others on two cores, may take seconds, and a call that was abandoned for that would be a 500 that
 * no test planned. The SDK sets each limit as a timer, and nothing else in the functions waits for exactly as long.
 */
export const stretchAwsTimeouts = (): void => {
  const limits = new Set(
    [promptClient, patientClient].flatMap(({ requestHandler }) => [
      requestHandler.connectionTimeout,
      requestHandler.requestTimeout,
    ]),
  );
  const { setTimeout: original } = globalThis;
  const stretched = (callback: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) =>
    original(callback, limits.has(delay ?? 0) ? STRETCHED_MS : delay, ...args);
  globalThis.setTimeout = Object.assign(stretched, original) as typeof original;
};
