import {
  intakeClient,
  patientClient,
  promptClient,
  removingClient,
} from '#lib/aws/wiring/aws-client-timeouts.ts';

/** Less than `functionTimeoutSeconds` (time-limits.ts): a call that takes too long is an answer 5xx, and no process is killed. */
const STRETCHED_MS = 30_000;

/**
 * Gives calls to AWS more time than the deployed functions do. DynamoDB answers in milliseconds, but the emulator on a busy
 * machine may take seconds, and a timeout would be an unplanned 500. The SDK sets each limit as a timer. Nothing else in
 * the functions waits for exactly as long.
 */
export const stretchAwsTimeouts = (): void => {
  const limits = new Set(
    [promptClient, intakeClient, patientClient, removingClient].flatMap(({ requestHandler }) => [
      requestHandler.connectionTimeout,
      requestHandler.requestTimeout,
    ]),
  );
  const { setTimeout: original } = globalThis;
  const stretched = (callback: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) =>
    original(callback, limits.has(delay ?? 0) ? STRETCHED_MS : delay, ...args);
  globalThis.setTimeout = Object.assign(stretched, original) as typeof original;
};
