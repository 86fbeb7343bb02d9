import { expect, test } from 'vitest';
import type { StreamRecord } from '#tools/cli/aws/follow-stream.ts';
import { type HandleStreamDeps, handleStream, type Progress } from '#tools/cli/listen/handle-stream.ts';
import type { StreamReader } from '#tools/cli/listen/stream-reader-port.ts';
import { fakeStream } from './fake-stream.ts';

const extractions = 8;
/** Every record is from before it. */
const later = new Date('2100-01-01T00:00:00.000Z');
const origin: Progress = { since: new Date(0).toISOString(), positions: {} };

const idOf = (record: StreamRecord): string => record.dynamodb?.Keys?.extractionId?.S ?? '';
const numberOf = (record: StreamRecord): number => Number(record.dynamodb?.SequenceNumber);

const depsOf = (over: Partial<HandleStreamDeps> & Pick<HandleStreamDeps, 'reader'>): HandleStreamDeps => ({
  handle: async () => true,
  save: async () => {},
  sleep: async () => {},
  onReady: () => {},
  onUnreachable: () => {},
  onTrimmed: () => {},
  signal: new AbortController().signal,
  ...over,
});

/** A reader of the stream, before each read of which this happens. It gets the number of the read. */
const whileReading = (
  { reader }: ReturnType<typeof fakeStream>,
  happens: (read: number) => void,
): StreamReader => {
  let read = 0;
  return {
    ...reader,
    read: async (iterator) => {
      read += 1;
      happens(read);
      return reader.read(iterator);
    },
  };
};

/** Runs a listener from there. Returns what it handled, and how often it reported that records may be lost. */
const collect = async (
  stream: ReturnType<typeof fakeStream>,
  start: Progress,
  over: Partial<HandleStreamDeps> = {},
  options = {},
) => {
  const handled: StreamRecord[] = [];
  let trimmed = 0;
  const deps = depsOf({
    reader: stream.reader,
    handle: async (record) => handled.push(record) > 0,
    onTrimmed: () => {
      trimmed += 1;
    },
    ...over,
  });
  await handleStream(start, { endsAt: later, ...options }, deps);
  return { handled, ids: handled.map(({ eventID }) => eventID), trimmed };
};

class Killed extends Error {}

/** A stream, and what makes up to so many changes in it, while its shards split twice. */
const changing = (changes: number) => {
  const stream = fakeStream();
  let made = 0;
  const make = (count: number): void => {
    for (let index = 0; index < count && made < changes; index += 1) {
      stream.append(`extraction-${made % extractions}`);
      made += 1;
      if (made === Math.floor(changes / 3) || made === Math.floor((changes * 2) / 3)) stream.split();
    }
  };
  return { stream, make };
};

/** A run of a listener amid `changes`, which is killed at its step `killedAt`, and then a second run. */
const runTwice = async (changes: number, killedAt: number) => {
  const { stream, make } = changing(changes);
  const handled: StreamRecord[] = [];
  let saved = origin;
  let step = 0;
  /** The process can end before and after each thing that it does. */
  const steps = async <T>(work: () => T | Promise<T>): Promise<T> => {
    step += 1;
    if (step === killedAt) throw new Killed();
    const result = await work();
    step += 1;
    if (step === killedAt) throw new Killed();
    return result;
  };
  const { shards, open, read } = whileReading(stream, () => make(5));
  const deps = depsOf({
    reader: {
      shards: () => steps(shards),
      open: (shardId, at) => steps(() => open(shardId, at)),
      read: (iterator) => steps(() => read(iterator)),
    },
    handle: (record) => steps(() => handled.push(record) > 0),
    save: (progress) =>
      steps(() => {
        saved = structuredClone(progress);
      }),
  });
  let killed = false;
  await handleStream(saved, { endsAt: later }, deps).catch((error: unknown) => {
    killed = error instanceof Killed;
    if (!killed) throw error;
  });
  if (killed) {
    make(changes);
    await handleStream(saved, { endsAt: later }, deps);
  }
  return { handled, killed, repeated: handled.length - new Set(handled).size };
};

/** Every change is handled, and those of an extraction in their order; a repetition is the last change again. */
const expectNothingLost = (changes: number, handled: readonly StreamRecord[]): void => {
  expect(new Set(handled.map(({ eventID }) => eventID)).size).toBe(changes);
  const last = new Map<string, number>();
  for (const record of handled) {
    if (numberOf(record) < (last.get(idOf(record)) ?? 0))
      throw new Error(`${record.eventID} is out of order.`);
    last.set(idOf(record), numberOf(record));
  }
};

test('a listener loses none of 60 changes at whichever step it is killed, and repeats one event at most', async () => {
  let kills = 0;
  for (let killedAt = 1; ; killedAt += 1) {
    const { handled, killed, repeated } = await runTwice(60, killedAt);
    expectNothingLost(60, handled);
    expect(repeated).toBeLessThanOrEqual(1);
    if (!killed) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(300);
});

test('an iterator that expires at whichever read loses none of 60 changes, and repeats none', async () => {
  for (let expiresAt = 1, reads = 0; reads >= expiresAt - 1; expiresAt += 1) {
    const { stream, make } = changing(60);
    reads = 0;
    const reader = whileReading(stream, (read) => {
      reads = read;
      make(5);
      if (read === expiresAt) stream.expire();
    });
    const { handled } = await collect(stream, origin, { reader });
    expectNothingLost(60, handled);
    expect(handled).toHaveLength(60);
  }
});

test('a first run starts at the end of the stream, and reads new shards from their start', async () => {
  const stream = fakeStream();
  stream.append('extraction-0');
  let made: readonly (string | undefined)[] = [];
  const reader = whileReading(stream, (read) => {
    if (read > 1) return;
    const first = stream.append('extraction-1').eventID;
    stream.split();
    made = [first, stream.append('extraction-1').eventID];
  });
  const { ids } = await collect(stream, origin, { reader }, { atNewest: true });
  expect(ids).toEqual(made);
});

test('a first run whose iterator expires before its first record has nothing from before it, and misses nothing', async () => {
  const stream = fakeStream();
  stream.append('extraction-0', new Date('2026-11-22T09:59:59.000Z'));
  let made: readonly (string | undefined)[] = [];
  const reader = whileReading(stream, (read) => {
    if (read > 1) return;
    made = [stream.append('extraction-1').eventID];
    stream.expire();
  });
  const start = { since: '2026-11-22T10:00:00.000Z', positions: {} };
  expect((await collect(stream, start, { reader }, { atNewest: true })).ids).toEqual(made);
});

test('records from before the time are skipped', async () => {
  const stream = fakeStream();
  stream.append('extraction-0', new Date('2026-11-22T09:59:59.900Z'));
  const { eventID } = stream.append('extraction-0', new Date('2026-11-22T10:00:00.100Z'));
  const { ids } = await collect(stream, { since: '2026-11-22T10:00:00.500Z', positions: {} });
  // Of the same second, which is as exact as a stream record is.
  expect(ids).toEqual([eventID]);
});

test('a position that the stream no longer has is reported, and it goes on with the oldest record', async () => {
  const stream = fakeStream();
  const { eventID } = stream.append('extraction-0');
  const { ids, trimmed } = await collect(stream, { ...origin, positions: { 'shard-0': '7' } });
  expect({ ids, trimmed }).toEqual({ ids: [eventID], trimmed: 1 });
});

test('a shard that is gone is reported only if it was not read to its end', async () => {
  const position = (at: string) => ({ ...origin, positions: { 'shard-old': at } });
  expect((await collect(fakeStream(), position('7'))).trimmed).toBe(1);
  expect((await collect(fakeStream(), position('end'))).trimmed).toBe(0);
});

test('a record whose handling is interrupted is not saved as handled', async () => {
  const stream = fakeStream();
  for (let index = 0; index < 3; index += 1) stream.append('extraction-0');
  const stop = new AbortController();
  const positions: unknown[] = [];
  await collect(stream, origin, {
    signal: stop.signal,
    handle: async ({ dynamodb }) => {
      if (dynamodb?.SequenceNumber !== '1002') return true;
      stop.abort();
      return false;
    },
    save: async (progress) => void positions.push(progress.positions['shard-0']),
  });
  expect(positions).toEqual(['1001']);
});

test('it ends once the records from before a time are read, although newer ones keep coming', async () => {
  const stream = fakeStream();
  const { eventID } = stream.append('extraction-0', new Date('2026-11-22T09:59:59.000Z'));
  const newer = new Date('2026-11-22T10:00:01.000Z');
  const reader = whileReading(stream, () => stream.append('extraction-1', newer));
  const endsAt = new Date('2026-11-22T10:00:00.000Z');
  const { ids } = await collect(stream, origin, { reader }, { endsAt });
  expect(ids[0]).toBe(eventID);
});
