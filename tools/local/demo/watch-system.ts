import { EventEmitter } from 'node:events';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SFNClient } from '@aws-sdk/client-sfn';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import type { SandboxEvent } from '../../../test/sandbox/events.ts';
import { openStream, type StreamRecord } from '../../cli/aws/follow-stream.ts';
import { EmulatorFailed } from '../expected-failure.ts';
import type { LocalSystem } from '../local-system.ts';
import { followExecution, type HistoryEvent } from './follow-execution.ts';
import { followProvider } from './follow-provider.ts';

/** An event of an extraction, or at the provider. */
export type SystemEvent =
  | { source: 'stream'; extractionId: string; record: StreamRecord }
  | { source: 'machine'; extractionId: string; event: HistoryEvent }
  | { source: 'provider'; event: SandboxEvent };

/** Emits every `event`. `failed` rejects if watching itself fails, and never resolves. */
export type Watch = EventEmitter<{ event: [SystemEvent] }> & { failed: Promise<never> };

/**
 * Watches the stream, the provider, and the execution of every new extraction, until `signal` aborts. No event after it
 * resolves is missed.
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
      reject(new EmulatorFailed(`The emulator no longer answers${log}. Start again.`, { cause: error }));
    });

  // A restored record, or one that was requested again after an erasure, has an execution from before. It is no news.
  const watchMachine = async (extractionId: string, since: Date) => {
    const arn = executionArn(outputs.StateMachineArn ?? '', extractionId);
    for await (const event of followExecution(new SFNClient(emulator.client), arn, signal, since)) {
      watch.emit('event', { source: 'machine', extractionId, event });
    }
  };
  const streams = new DynamoDBStreamsClient(emulator.client);
  const records = await openStream(streams, outputs.ExtractionsStreamArn ?? '', signal);
  const watchStream = async () => {
    for await (const record of records) {
      const extractionId = record.dynamodb?.Keys?.extractionId?.S;
      if (extractionId === undefined) continue;
      // Rounded down to the second, so it is never later than an event of the new execution:
      // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
      const since = record.dynamodb?.ApproximateCreationDateTime ?? new Date(0);
      if (record.eventName === 'INSERT') guarded(watchMachine(extractionId, since));
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
