import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../../lib/extraction/record.ts';
import {
  parseDeliveryLine,
  parseSweepLine,
} from '../../../../../../tools/cli/console/sources/parse-log-lines.ts';
import type { DeliveryLine } from '../../../../../../tools/cli/console/sources/sources.ts';
import { consoleOver, denied, sourcesWith } from '../../../../../support/browser/console-fixtures.ts';
import { extractionIn, id, iso } from '../../../../../support/data/extraction-fixtures.ts';

const task = { taskId: 'task-1', extractionId: id } as const;
const recorded = { ...task, answer: 204, verdict: 'recorded', wake: 'woken' } as const;

const pageOf = (items: readonly DeliveryLine[], path = '/deliveries') =>
  consoleOver(sourcesWith([], { deliveries: async () => ({ items, complete: true }) })).text(path);

test('the first line counts what was refused and what failed', async () => {
  expect(await pageOf([])).toContain('No delivery came within 1 h.');
  expect(await pageOf([{ ...recorded, at: iso(1) }])).toContain(
    '1 delivery came within 1 h, and none was refused.',
  );
  expect(
    await pageOf([
      { ...recorded, at: iso(3) },
      { at: iso(2), answer: 401, verdict: 'mismatch' },
      { at: iso(1), answer: 500, verdict: 'failed' },
    ]),
  ).toContain('Of 3 deliveries within 1 h, 1 was refused and 1 failed.');
});

test("the doctor's own check is shown as such, and counted as no delivery", async () => {
  const page = await pageOf([
    { ...recorded, at: iso(2) },
    { at: iso(1), answer: 401, verdict: 'doctor' },
  ]);
  expect(page).toContain('1 delivery came within 1 h, and none was refused.');
  expect(page).toContain(
    'no delivery: <code>cosecha doctor</code> checked that a wrong signature is refused',
  );
});

test.each([
  [{ ...recorded }, 'recorded; the webhook woke the execution'],
  [{ ...recorded, wake: 'gone' }, 'recorded; the execution no longer waited'],
  [{ taskId: 't', answer: 204, verdict: 'stored' }, 'an early delivery or an orphan delivery'],
  [{ taskId: 't', answer: 204, verdict: 'unknown-status' }, 'the next read decides'],
  [{ answer: 401, verdict: 'mismatch' }, 'refused: its signature matches no signing key'],
  [{ answer: 401, verdict: 'missing' }, 'refused: it has no signature'],
  [{ answer: 400, verdict: 'not-decryptable' }, 'its body cannot be decrypted'],
  [{ answer: 500, verdict: 'failed' }, 'the provider delivers it again'],
] as const)('%j is explained', async (line, text) => {
  expect(await pageOf([{ ...line, at: iso(1) }])).toContain(text);
});

test('the later of two accepted deliveries of a task is a repeated one', async () => {
  const page = await pageOf([
    { ...recorded, at: iso(2) },
    { ...recorded, at: iso(1) },
  ]);
  expect(page.indexOf('repeated; the webhook')).toBeLessThan(page.indexOf('recorded; the webhook'));
  expect(page.match(/repeated; /g)).toHaveLength(1);
});

test('the verdict can be chosen', async () => {
  const lines = [
    { ...recorded, at: iso(2) },
    { at: iso(1), answer: 401, verdict: 'missing' },
  ] as const;
  const page = await pageOf(lines, '/deliveries?verdict=refused');
  expect(page).toContain('it has no signature');
  expect(page).not.toContain('woke the execution');
});

test('a missing permission is named', async () => {
  const { text } = consoleOver(sourcesWith([], { deliveries: () => denied('logs:FilterLogEvents') }));
  expect(await text('/deliveries')).toContain('to logs:FilterLogEvents on r. That permission is missing');
});

const timestamp = iso(1);
const line = { level: 'INFO', timestamp, service: 'receive-webhook', function_name: 'f' };

const received = { message: 'Delivery received.', taskId: 't' };
const woken = { kind: 'recorded', extractionId: id, wake: 'woken' };
const unread = { message: 'A verified delivery could not be read.', level: 'ERROR', reason: 'no-task' };

test.each([
  [
    { ...received, recorded: woken },
    { taskId: 't', extractionId: id, answer: 204, verdict: 'recorded', wake: 'woken' },
  ],
  [
    { ...received, recorded: { kind: 'stored' } },
    { taskId: 't', answer: 204, verdict: 'stored' },
  ],
  [
    { ...received, recorded: 'unknown-status' },
    { taskId: 't', answer: 204, verdict: 'unknown-status' },
  ],
  [
    { message: 'Delivery refused.', level: 'WARN', reason: 'mismatch' },
    { answer: 401, verdict: 'mismatch' },
  ],
  [unread, { answer: 400, verdict: 'no-task' }],
  [
    { message: 'The request failed.', level: 'ERROR', failure: {} },
    { answer: 500, verdict: 'failed' },
  ],
])('a line of receive-webhook is a delivery: %j', (fields, expected) => {
  expect(parseDeliveryLine({ ...line, ...fields })).toEqual({ at: timestamp, ...expected });
});

test('other lines are no delivery and no sweep', () => {
  const metric = { ...line, level: 'WARN', message: 'Metric counted.', metric: 'UnlinkedDelivery' };
  expect(parseDeliveryLine(metric)).toBeUndefined();
  expect(parseDeliveryLine({ _aws: {} })).toBeUndefined();
  expect(parseSweepLine(metric)).toBeUndefined();
});

test('the line that ends a sweep has its counts', () => {
  const swept = { ...line, message: 'Sweep finished.', sent: 3, failed: 1, cutShort: false };
  expect(parseSweepLine(swept)).toEqual({ at: timestamp, sent: 3, failed: 1 });
});

/** Reads a stream of server-sent events until there are so many. */
const readEvents = async (answer: Response, count: number): Promise<readonly string[]> => {
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.split('\n\n').length <= count) {
    const { value = '', done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text.split('\n\n').slice(0, count);
};

test('a page is sent again when what it shows has changed, and only then', async () => {
  const records: Extraction[] = [extractionIn('RUNNING', { reference: 'first' })];
  let sleeps = 0;
  const { get } = consoleOver(sourcesWith([], { open: async () => [...records] }), {
    sleep: async () => {
      sleeps += 1;
      if (sleeps === 2) records[0] = extractionIn('RUNNING', { reference: 'second' });
    },
  });
  const answer = await get('/live?page=%2F');
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const [first, second, third] = await readEvents(answer, 3);
  expect(first).toContain('event: page');
  expect(first).toContain('first');
  expect(second).toContain('event: checked');
  expect(third).toContain('event: page');
  expect(third).toContain('second');
});
