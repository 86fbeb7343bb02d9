import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeExtractionEvent } from '../../../lib/downstream/decode-extraction-event.ts';
import {
  collectedEvent,
  correctedEvent,
  expiredEvent,
  settledEvent,
} from '../../../lib/downstream/stream-records-for-tests.ts';
import { repository } from '../../../tools/local/paths.ts';
import { describeIfInstalled, findProgram } from '../../support/programs/describe-if-installed.ts';
import { documentedRecords } from '../docs/documented-records.ts';

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
    test('reads each documented record, and what the bus and export make of it, as the package does', () => {
      const records = [...documentedRecords().values(), expiredEvent()];
      const events = records.map((record) => decodeExtractionEvent(record as never));
      const asOnTheBus = events.map((data) => ({ 'detail-type': 'extraction', detail: { data } }));
      const { shown, stderr } = count([{ Records: records }, ...asOnTheBus, ...events]);
      expect(stderr).toBe('');
      const kinds = events.map(({ kind }) => kind);
      expect(shown.map(({ kind }) => kind)).toEqual([...kinds, ...kinds, ...kinds]);
    });

    test('counts an extraction once, by its latest record, in whatever order', () => {
      const changes = [settledEvent({ status: 'TIMED_OUT' }), correctedEvent(), collectedEvent()];
      const lines = [...changes, ...changes.toReversed(), { Records: changes }];
      expect(count(lines).shown.at(-1)).toEqual({
        kind: 'collected',
        outcomes: { 'demo-bank COMPLETED': 1 },
      });
    });

    const record = settledEvent({ reference: 'secret-reference' });
    const { NewImage, ...withoutImage } = record.dynamodb;
    test.each([
      ['nothing', {}],
      ['a record of Kinesis', { kinesis: { data: 'e30=' } }],
      ['no sequence number', { ...record, dynamodb: { ...record.dynamodb, SequenceNumber: '' } }],
      ['no image', { ...record, dynamodb: withoutImage }],
      [
        'another version',
        { ...record, dynamodb: { ...withoutImage, NewImage: { ...NewImage, schemaVersion: { N: '2' } } } },
      ],
      ['another form', { ...record, dynamodb: { ...withoutImage, NewImage: { status: { L: 'x' } } } }],
    ])('refuses %s, without its content', (_, line) => {
      const { shown, stderr } = count([line]);
      expect(shown).toEqual([]);
      expect(stderr).toContain('it is not an event of an extraction');
      expect(stderr).not.toContain('secret-reference');
    });
  },
);
