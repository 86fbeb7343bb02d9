import { expect, test } from 'vitest';
import { isOverdue } from '#lib/extraction/deadlines.ts';
import {
  at,
  closedExtraction,
  consentIn,
  extractionIn,
  idOf,
  iso,
} from '#support/data/extraction-fixtures.ts';
import { distinct, parseFilter, selectExtractions } from '#tools/cli/console/sources/select-extractions.ts';

const overdueMost = extractionIn('RUNNING', { extractionId: idOf(1), dueAt: iso(10), reference: 'Order-7' });
const overdueLess = extractionIn('STARTING', { extractionId: idOf(2), dueAt: iso(20) });
const open = extractionIn('RUNNING', {
  extractionId: idOf(3),
  requestedAt: iso(5),
  taskId: 'task-of-3',
  batch: 'morning',
});
const newer = consentIn('RUNNING', {
  extractionId: idOf(4),
  requestedAt: iso(6),
  requestedBy: 'arn:aws:sts::111122223333:assumed-role/Billing',
});
const ended = closedExtraction({
  extractionId: idOf(5),
  status: 'COMPLETED',
  settledAt: iso(-3_000),
  collectedAt: iso(31),
  entity: 'other',
});
const endedLast = closedExtraction({
  extractionId: idOf(6),
  status: 'FAILED',
  settledAt: iso(40),
  collectedAt: iso(41),
  actionResults: ['ACTION_ERROR', 'TIMEOUT_ERROR'].map((errorCode) => ({
    id: 'movement',
    status: 'FAILED',
    errorCode,
  })),
});
const all = [endedLast, ended, open, newer, overdueLess, overdueMost, overdueMost];

const select = (query: string) =>
  selectExtractions(distinct(all), parseFilter(new URLSearchParams(query)), {
    isLate: (record) => isOverdue(record, at(1_000), 5),
    isInLine: ({ extractionId }) => extractionId === idOf(4),
  }).map(({ extractionId }) => Number(extractionId.at(-1)));

test('the most overdue come first, then the newest open ones, then the last that ended, each once', () => {
  expect(select('')).toEqual([1, 2, 4, 3, 6, 5]);
});

test.each([
  ['status=overdue', [1, 2]],
  ['status=ended', [6, 5]],
  ['status=line', [4]],
  ['status=STARTING', [2]],
  ['method=consent&subject=movement', [4]],
  ['subject=OTHER', [5]],
  ['status=open&caller=assumed-role/CALLER', [1, 2, 3]],
  ['caller=another', []],
  ['cause=ACTION_ERROR and TIMEOUT_ERROR', [6]],
  ['cause=TIMEOUT_ERROR', [6]],
  ['cause=TIMEOUT', []],
  ['advice=todo', [6]],
  ['advice=request-again', [6]],
  ['advice=none', [5]],
  ['hour=2026-03-01T11', [5]],
  ['hour=2026-03-01T12', [1, 2, 4, 3, 6]],
  ['hour=2026-03-01', [1, 2, 4, 3, 6, 5]],
  ['hour=2026-03-02', []],
  ['name=order', [1]],
  ['name=morn', [3]],
  ['name=billing', [4]],
  ['batch=morning', [3]],
  ['batch=morn', []],
  [`name=${idOf(6)}`, [6]],
  ['name=task-of', [3]],
  ['name=0190A0B0…000006', [6]],
  ['name=0190a0b0...000006', [6]],
  ['name=0190a0b0-0000…000006', [6]],
  ['name=0190a0b1…000006', []],
] as const)('%s selects %j', (query, expected) => {
  expect(select(query)).toEqual(expected);
});

test('what the form does not offer is ignored', () => {
  expect(
    parseFilter(new URLSearchParams('status=DONE&method=1&since=9y&advice=all&hour=2026-03&name=%20a%20')),
  ).toEqual({
    status: 'any',
    method: 'any',
    advice: 'any',
    subject: '',
    cause: '',
    caller: '',
    name: 'a',
    batch: '',
    hour: '',
    since: '1h',
  });
});
