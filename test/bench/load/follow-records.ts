import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { openStream } from '../../../tools/cli/aws/follow-stream.ts';
import type { StoppableRun } from '../../support/programs/run-until-stopped.ts';
import type { MeasuredSystem } from './start-measured-system.ts';

type Waiting = {
  readonly fits: (record: Extraction) => boolean;
  readonly resolve: (record: Extraction) => void;
};

export type Records = {
  /** Waits for the first fitting record in the stream, past ones included. */
  readonly when: (
    extractionId: string,
    what: string,
    fits: (record: Extraction) => boolean,
  ) => Promise<Extraction>;
};

const timeoutMs = 60_000;

/** Reads the stream of `Extractions` until the end. */
export const followRecords = async (
  system: MeasuredSystem,
  { stop, atEnd }: StoppableRun,
): Promise<Records> => {
  const ended = new AbortController();
  atEnd(async () => ended.abort());
  const signal = AbortSignal.any([stop, ended.signal]);
  const client = new DynamoDBStreamsClient(system.emulator.client);
  const stream = await openStream(client, system.outputs.ExtractionsStreamArn ?? '', signal);
  const last = new Map<string, Extraction>();
  const waiting = new Map<string, Waiting>();
  const follow = async () => {
    for await (const { dynamodb } of stream) {
      if (dynamodb?.NewImage === undefined) continue;
      const record = unmarshall(dynamodb.NewImage as Parameters<typeof unmarshall>[0]) as Extraction;
      last.set(record.extractionId, record);
      const one = waiting.get(record.extractionId);
      if (one?.fits(record)) one.resolve(record);
    }
  };
  follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    when: async (extractionId, what, fits) => {
      const seen = last.get(extractionId);
      if (seen !== undefined && fits(seen)) return seen;
      const { promise, resolve, reject } = Promise.withResolvers<Extraction>();
      waiting.set(extractionId, { fits, resolve });
      const timer = setTimeout(
        () => reject(new Error(`${extractionId} was not ${what} in ${timeoutMs} ms.`)),
        timeoutMs,
      );
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(extractionId);
      });
    },
  };
};
