import { expect, test } from 'vitest';
import { consoleOver, sourcesWith } from '#support/browser/console-fixtures.ts';
import { id, iso } from '#support/data/extraction-fixtures.ts';
import { parseDeliveryLine, parseSweepLine } from '#tools/cli/console/sources/parse-log-lines.ts';
import type { DeliveryLine } from '#tools/cli/console/sources/sources.ts';

const task = { taskId: 'task-1', extractionId: id } as const;
const recorded = { ...task, answer: 204, verdict: 'recorded', wake: 'woken' } as const;
const doctor = { answer: 401, verdict: 'doctor' } as const;
const refused = { answer: 401, verdict: 'mismatch' } as const;
const failed = { answer: 500, verdict: 'failed' } as const;

/** The page over these deliveries, the newest first. */
const pageOf = (lines: readonly Omit<DeliveryLine, 'at'>[], path = '/deliveries') => {
  const items = lines.map((line, index) => ({ ...line, at: iso(50 - index) }));
  return consoleOver(sourcesWith([], { deliveries: async () => ({ items, complete: true }) })).text(path);
};

test.each([
  ['No delivery came in the last hour.', []],
  ['1 delivery came in the last hour, and none was refused. 1 row is a check of doctor.', [recorded, doctor]],
  ['Of 3 deliveries in the last hour, 1 was refused and 1 failed.', [recorded, refused, failed]],
])('the first line counts deliveries, and no check of the doctor: %s', async (line, lines) => {
  expect(await pageOf(lines)).toContain(`<h1 id="result" tabindex="-1">${line}</h1>`);
});

test.each([
  [doctor, 'no delivery: doctor checked that a wrong signature is refused'],
  [{ taskId: 't', answer: 204, verdict: 'stored' }, 'an early delivery or an orphan delivery'],
  [{ taskId: 't', answer: 204, verdict: 'unknown-status' }, 'the next read decides'],
  [{ answer: 400, verdict: 'not-decryptable' }, 'its body cannot be decrypted'],
  [failed, 'the provider delivers it again'],
] as const)('%j is explained', async (line, text) => {
  expect(await pageOf([line])).toContain(text);
});

test('the later of two accepted deliveries of a task is a repeated one', async () => {
  const page = await pageOf([recorded, recorded]);
  const effects = [...page.matchAll(/(\w+); the webhook woke the execution/g)].map(([, effect]) => effect);
  expect(effects).toEqual(['repeated', 'recorded']);
});

test('the verdict can be chosen', async () => {
  const page = await pageOf([recorded, refused], '/deliveries?verdict=refused');
  expect(page).toContain('refused: its signature matches no signing key');
  expect(page).not.toContain('woke the execution');
});

const timestamp = iso(1);
const line = { level: 'INFO', timestamp, service: 'receive-webhook', function_name: 'f' };
const received = { message: 'Delivery received.', taskId: 't' };

const woken = { extractionId: id, wake: 'woken' };
const unread = { message: 'A verified delivery could not be read.', level: 'ERROR', reason: 'no-task' };

test.each<[object, number, string, object?]>([
  [{ ...received, recorded: { kind: 'recorded', ...woken } }, 204, 'recorded', { ...woken, taskId: 't' }],
  [{ ...received, recorded: 'unknown-status' }, 204, 'unknown-status', { taskId: 't' }],
  [{ message: 'Delivery refused.', level: 'WARN', reason: 'mismatch' }, 401, 'mismatch'],
  [unread, 400, 'no-task'],
  [{ message: 'The request failed.', level: 'ERROR', failure: {} }, 500, 'failed'],
])('the line %j is a delivery that was answered %d: %s', (fields, answer, verdict, more) => {
  const delivery = { at: timestamp, answer, verdict, ...more };
  expect(parseDeliveryLine({ ...line, ...fields })).toEqual(delivery);
});

test('a line ends a sweep, and other lines are no delivery and no sweep', () => {
  expect(parseSweepLine({ ...line, message: 'Sweep finished.', sent: 3 })).toBe(timestamp);
  const metric = { ...line, level: 'WARN', message: 'Metric counted.', metric: 'UnlinkedDelivery' };
  expect(parseSweepLine(metric)).toBeUndefined();
  for (const other of [metric, { _aws: {} }]) expect(parseDeliveryLine(other)).toBeUndefined();
});
