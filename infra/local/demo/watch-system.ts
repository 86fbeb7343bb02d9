import { EventEmitter } from 'node:events';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SFNClient } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import { openStream, type StreamRecord } from '../../../lib/cli/aws/follow-stream.ts';
import type { SandboxEvent } from '../../../test/sandbox/events.ts';
import { EmulatorFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import { followExecution, type HistoryEvent } from './follow-execution.ts';
import { followProvider } from './follow-provider.ts';

/** Something that happened to an extraction, or at the provider. */
export type SystemEvent =
  | { source: 'stream'; extractionId: string; record: StreamRecord }
  | { source: 'machine'; extractionId: string; event: HistoryEvent }
  | { source: 'provider'; event: SandboxEvent };

/** Emits every happening as `event`. `failed` rejects when the watching itself fails, never otherwise. */
export type Watch = EventEmitter<{ event: [SystemEvent] }> & { failed: Promise<never> };

/**
 * Watches the stream, the provider, and the execution of every extraction that appears, until `signal` aborts. What
 * happens after it has resolved is not missed.
 */
export const watchSystem = async (
  { emulator, outputs, provider }: LocalSystem,
  signal: AbortSignal,
): Promise<Watch> => {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const watch = Object.assign(new EventEmitter<{ event: [SystemEvent] }>(), { failed });
  const guarded = (watching: Promise<void>) =>
    watching.catch((error: unknown) => {
      if (signal.aborted) return;
      const log = emulator.logFile === undefined ? '' : ` (its log: ${emulator.logFile})`;
      reject(new EmulatorFailed(`The emulator no longer answers${log}: start again.`, { cause: error }));
    });

  const watchMachine = async (extractionId: string) => {
    const arn = executionArn(outputs.StateMachineArn ?? '', extractionId);
    for await (const event of followExecution(new SFNClient(emulator.client), arn, signal)) {
      watch.emit('event', { source: 'machine', extractionId, event });
    }
  };
  const streams = new DynamoDBStreamsClient(emulator.client);
  const records = await openStream(streams, outputs.ExtractionsStreamArn ?? '', signal);
  const watchStream = async () => {
    for await (const record of records) {
      const extractionId = record.dynamodb?.Keys?.extractionId?.S;
      if (extractionId === undefined) continue;
      if (record.eventName === 'INSERT') guarded(watchMachine(extractionId));
      watch.emit('event', { source: 'stream', extractionId, record });
    }
  };
  const watchProvider = async () => {
    for await (const event of followProvider(provider, signal))
      watch.emit('event', { source: 'provider', event });
  };

  guarded(watchStream());
  guarded(watchProvider());
  return watch;
};
