import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeExtractionEvent } from '#lib/downstream/decode-extraction-event.ts';
import { collectedEvent, correctedEvent, settledEvent } from '#lib/downstream/stream-records-for-tests.ts';
import { findPython } from '../../../tools/local/emulator/find-python.ts';
import { repository } from '../../../tools/local/paths.ts';
import { documentedRecords } from '../docs/documented-records.ts';

const { executable } = await findPython();

/** Runs a program in the folder of the example, with the schema as its argument. */
const python = (args: readonly string[], input: string) =>
  spawnSync(executable, ['-B', ...args, join(repository, 'docs/schemas/stream-record.json')], {
    cwd: join(repository, 'examples/consumer-python'),
    input,
    encoding: 'utf8',
  });

const decodeAll = `
import json, sys
from extraction_events import NotOurs, decode
schema = json.load(open(sys.argv[1], encoding="utf-8"))
def decoded(record):
    try:
        return decode(record, schema)
    except NotOurs as error:
        return {"kind": "not-ours", "problem": str(error)}
print(json.dumps([decoded(record) for record in json.load(sys.stdin)]))
`;

type Decoded = { readonly kind: string; readonly problem?: string; readonly extraction?: unknown };
const decode = (records: readonly unknown[]): readonly Decoded[] => {
  const { stdout, stderr } = python(['-c', decodeAll], JSON.stringify(records));
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

/** The totals after the last batch. */
const lastOf = (stdout: string): unknown => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');

const run = (batches: readonly (readonly unknown[])[]) =>
  python(['count_outcomes.py'], batches.map((Records) => `${JSON.stringify({ Records })}\n`).join(''));

test('the Python reader decodes every documented record as the package does', () => {
  const erased = documentedRecords().get('erased');
  const identity = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
  const records = [...documentedRecords().values(), { ...erased, userIdentity: identity }];
  const expected = records.map((record) => decodeExtractionEvent(record as never)) as readonly Decoded[];
  const shown = ({ kind, extraction }: Decoded) => ({ kind, extraction });
  expect(decode(records).map(shown)).toEqual(expected.map(shown));
});

test('the Python reader takes events of the bus and lines of export as the package does', () => {
  const events = [...documentedRecords().values()].map((record) => decodeExtractionEvent(record as never));
  const onTheBus = events.map((data) => ({ 'detail-type': 'extraction', detail: { id: 'x', data } }));
  const expected = events.map(({ kind }) => kind);
  for (const encoded of [events, onTheBus]) {
    expect(decode(encoded).map(({ kind }) => kind)).toEqual(expected);
  }
  const broken = events.map((event) => ({ ...event, sequenceNumber: 'none' }));
  expect(new Set(decode(broken).map(({ kind }) => kind))).toEqual(new Set(['not-ours']));
  const lines = python(['count_outcomes.py'], events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  expect(lines.stderr).toBe('');
  expect(lines.stdout.trim().split('\n')).toHaveLength(events.length);
});

test('the Python reader refuses what is not a record of extractions, without its content', () => {
  const settled = settledEvent({ reference: 'secret-reference' });
  const { dynamodb } = settled;
  const withImage = (fields: object) => ({
    ...settled,
    dynamodb: { ...dynamodb, NewImage: { ...dynamodb.NewImage, ...fields } },
  });
  const refused = decode([
    {},
    { ...settled, dynamodb: { ...dynamodb, Keys: { taskId: { S: 'secret-reference' } } } },
    withImage({ schemaVersion: { N: '2' } }),
    withImage({ settledAt: { S: 'secret-reference' } }),
    withImage({ reference: { N: 'secret-reference' } }),
  ]);
  expect(refused.map(({ kind }) => kind)).toEqual(refused.map(() => 'not-ours'));
  expect(JSON.stringify(refused)).not.toContain('secret-reference');
  expect(refused.map(({ problem }) => problem)).toContain(
    'It does not fit the schema of settled: record.dynamodb.Keys lacks extractionId.',
  );
});

test('the README has the command that runs it, in its folder', () => {
  const folder = join(repository, 'examples/consumer-python');
  const [, command = ''] =
    /^```sh\n[^`]* --raw --print \|\n([^`]*)^```$/m.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ??
    [];
  const batch = JSON.stringify({ Records: [settledEvent()] });
  const options = { cwd: folder, input: `${batch}\n${batch}\n`, encoding: 'utf8' } as const;
  const { stdout } = spawnSync('bash', ['--norc', '-c', command], options);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(lastOf(stdout)).toMatchObject({ outcomes: { 'demo-bank COMPLETED': 1 } });
});

describe('the Python consumer', () => {
  const one = settledEvent({ status: 'TIMED_OUT' });
  const two = correctedEvent();
  const three = collectedEvent();
  const poison = { ...settledEvent(), eventName: 'MODIFY', dynamodb: { ...two.dynamodb, NewImage: {} } };

  test('counts an extraction once, by its latest record, in whatever batches', () => {
    const answer = run([[one, two], [two, one], [three], [one]]);
    expect(answer.stderr).toBe('');
    expect(lastOf(answer.stdout)).toEqual({
      outcomes: { 'demo-bank COMPLETED': 1 },
      advice: { none: 1 },
      final: 1,
    });
  });

  test('reports a record that fails, and fails if it is the first', () => {
    const reported = run([[one, poison, two]]);
    expect(JSON.parse(reported.stderr)).toEqual({
      batchItemFailures: [{ itemIdentifier: poison.dynamodb.SequenceNumber }],
    });
    expect(lastOf(reported.stdout)).toEqual({
      outcomes: { 'demo-bank TIMED_OUT': 1 },
      advice: { wait: 1 },
      final: 0,
    });
    const failed = run([[poison, two]]);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('NotOurs');
  });
});

test('the Python example counts none that is to be erased', () => {
  const { stdout } = run([[settledEvent({ erasingAt: '2026-03-01T13:00:00.000Z' })]]);
  expect(lastOf(stdout)).toEqual({ outcomes: {}, advice: {}, final: 0 });
});
