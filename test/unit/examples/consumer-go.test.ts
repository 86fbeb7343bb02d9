import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import {
  collectedEvent,
  correctedEvent,
  expiredEvent,
  settledEvent,
} from '#lib/downstream/stream-records-for-tests.ts';
import { repository } from '../../../tools/local/paths.ts';
import { describeIfInstalled, findProgram } from '../../support/programs/describe-if-installed.ts';
import { documentedRecords } from '../docs/documented-records.ts';

const decode = (record: unknown) => decodeExtractionEvent(record as never);

/** Gives the example these lines, and returns what it printed after each event. */
const count = (lines: readonly unknown[]) => {
  const { stdout, stderr } = spawnSync('go', ['run', '.'], {
    cwd: join(repository, 'examples/consumer-go'),
    env: { ...process.env, GOTOOLCHAIN: 'auto' },
    input: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    encoding: 'utf8',
  });
  const printed = stdout.split('\n').filter((line) => line !== '');
  return { shown: printed.map((line) => JSON.parse(line)), stderr };
};

describeIfInstalled(
  findProgram('go') !== undefined,
  {
    title: 'the consumer in Go',
    howToInstall: 'the consumer in Go: install Go 1.21 or later, e.g. apt-get install -y golang-go',
  },
  () => {
    test('reads each event of the stream, from listen, export and the bus', () => {
      const events = [...documentedRecords().values(), expiredEvent()].map((record) => decode(record));
      const asOnTheBus = events.map((data) => ({ 'detail-type': 'extraction', detail: { data } }));
      const { shown, stderr } = count([...events, ...asOnTheBus]);
      expect(stderr).toBe('');
      const kinds = events.map(({ kind }) => kind);
      expect(shown.map(({ kind }) => kind)).toEqual([...kinds, ...kinds]);
    });

    test('counts an extraction once, by its latest event, in whatever order', () => {
      const changes = [settledEvent({ status: 'TIMED_OUT' }), correctedEvent(), collectedEvent()].map(decode);
      const lines = [...changes, ...changes.toReversed()];
      expect(count(lines).shown.at(-1)).toEqual({
        kind: 'settled',
        outcomes: { 'demo-bank COMPLETED': 1 },
      });
    });

    test('counts none that is to be erased', () => {
      const toErase = decode(settledEvent({ erasingAt: '2026-03-01T13:00:00.000Z' }));
      expect(count([toErase]).shown.at(-1)).toMatchObject({ outcomes: {} });
    });

    const event = decode(settledEvent({ reference: 'secret-reference' })) as object;
    const { extraction } = event as { readonly extraction: object };
    test.each([
      ['nothing', {}],
      ['a record of Kinesis', { kinesis: { data: 'e30=' } }],
      ['a record of the stream', settledEvent({ reference: 'secret-reference' })],
      ['no sequence number', { ...event, sequenceNumber: '' }],
      ['no extraction', { ...event, extraction: undefined }],
      ['another version', { ...event, extraction: { ...extraction, schemaVersion: 2 } }],
      ['another form', { ...event, extraction: { ...extraction, status: ['x'] } }],
    ])('refuses %s, without its content', (_, line) => {
      const { shown, stderr } = count([line]);
      expect(shown).toEqual([]);
      expect(stderr).toContain('it is not an event of an extraction');
      expect(stderr).not.toContain('secret-reference');
    });
  },
);
