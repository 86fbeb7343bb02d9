import { expect, test } from 'vitest';
import {
  parseDeliveryLine,
  parseSweepLine,
} from '../../../../../../tools/cli/console/sources/parse-log-lines.ts';
import type { DeliveryLine } from '../../../../../../tools/cli/console/sources/sources.ts';
import { consoleOver, sourcesWith } from '../../../../../support/browser/console-fixtures.ts';
import { id, iso } from '../../../../../support/data/extraction-fixtures.ts';

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
  ['No delivery came within 1 h.', []],
  ['1 delivery came within 1 h, and none was refused.', [recorded, doctor]],
  ['Of 3 deliveries within 1 h, 1 was refused and 1 failed.', [recorded, refused, failed]],
])('the first line counts deliveries, and no check of the doctor: %s', async (line, lines) => {
  expect(await pageOf(lines)).toContain(`<h1>${line}</h1>`);
});

test.each([
  [doctor, 'no delivery: <code>cosecha doctor</code> checked that a wrong signature is refused'],
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

test.each([
  [
    { ...received, recorded: { kind: 'recorded', extractionId: id, wake: 'woken' } },
    { taskId: 't', extractionId: id, answer: 204, verdict: 'recorded', wake: 'woken' },
  ],
  [
    { ...received, recorded: 'unknown-status' },
    { taskId: 't', answer: 204, verdict: 'unknown-status' },
  ],
  [{ message: 'Delivery refused.', level: 'WARN', reason: 'mismatch' }, refused],
  [
    { message: 'A verified delivery could not be read.', level: 'ERROR', reason: 'no-task' },
    { answer: 400, verdict: 'no-task' },
  ],
  [{ message: 'The request failed.', level: 'ERROR', failure: {} }, failed],
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
