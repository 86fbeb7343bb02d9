import { expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { consoleOver, denied, sourcesWith, wordsOf } from '#support/browser/console-fixtures.ts';
import { closedExtraction, extractionIn, idOf, iso } from '#support/data/extraction-fixtures.ts';
import type { ConsoleSources } from '#tools/cli/console/sources/sources.ts';

const ended = (entity: string, statuses: readonly Extraction['status'][], from: number) =>
  statuses.map((status, index) =>
    closedExtraction({
      extractionId: idOf(from + index),
      entity,
      status,
      ...(status === 'FAILED' && { actionResults: [{ id: 'movement', status, errorCode: 'TIMEOUT_ERROR' }] }),
      settledAt: iso(-600 + 60 * index),
      collectedAt: iso(50),
    }),
  );
const failing = (entity: string, from: number) => ended(entity, ['FAILED', 'FAILED', 'COMPLETED'], from);
const well = ended('other-bank', ['COMPLETED', 'COMPLETED', 'CREDENTIALS_WRONG'], 20);

/** Each item of the status line, as a text, from any page. */
const lineOf = async (
  records: readonly Extraction[],
  more: Partial<ConsoleSources> = {},
  path = '/deliveries',
): Promise<readonly string[]> => {
  const page = await consoleOver(sourcesWith(records, more)).text(path);
  const [, list = ''] = /<ul class="strip"[^>]*>(.*?)<\/ul>/s.exec(page) ?? [];
  return [...list.matchAll(/<li class="([\w ]+)">(.*?)<\/li>/gs)].map(
    ([, style, item = '']) => `${style === 'side late' ? '! ' : ''}${wordsOf(item).trim()}`,
  );
};

const waiting = extractionIn('REQUESTED', { extractionId: idOf(1) });
const { requestedBy: caller } = waiting;
const open = { kind: 'open', calls: 'starts', caller, since: iso(40), cause: 'http-503' } as const;
const paused = { kind: 'paused', calls: 'reads', since: iso(40), reason: 'x' } as const;
const held = (...holds: Awaited<ReturnType<ConsoleSources['holds']>>) => ({ holds: async () => holds });
const lane = { caller, priority: 'background' } as const;
const inLine = [{ ...lane, extractionId: idOf(1), group: 'bank', at: iso(0) }];
const line = {
  rate: async () => ({ lanes: [{ ...lane, waiting: inLine }], perSecond: 0.1, from: 'learnt' }) as const,
};
const us = 'Us: nothing is overdue · no sweep within an hour';
const provider = 'Provider: starts and reads pass';
const banks = 'Banks: 0 of 3 failed in the last hour';
const late = extractionIn('RUNNING', { extractionId: idOf(2), dueAt: iso(-3_600) });
const second = { ...waiting, extractionId: idOf(3), requestedAt: iso(20) };
const queue = { later: 0, inFlight: 0 };

test.each<[string, readonly string[], readonly Extraction[], Partial<ConsoleSources>?]>([
  ['nobody', [us, provider, banks], well],
  [
    'us, for what is overdue',
    ['! Us: 1 extraction is overdue · no sweep within an hour', provider, banks],
    [...well, late],
  ],
  [
    'us, for a dead letter',
    ['! Us: nothing is overdue · sweep 1 min ago · reconcile queue 7 · dead letters 1', provider, banks],
    well,
    {
      sweeps: async () => ({ items: [iso(40)], complete: true }),
      queues: async () => [
        { name: 'reconcile queue', isDeadLetters: false, waiting: 7, ...queue },
        { name: 'dead letters', isDeadLetters: true, waiting: 1, ...queue },
      ],
    },
  ],
  [
    'us, for a pause',
    [
      '! Us: reads have been paused for 1 min: x. 0 extractions wait. · nothing is overdue · no sweep within an hour',
      'Provider: nothing else is held',
      banks,
    ],
    well,
    held(paused),
  ],
  [
    'the provider, for a breaker over all banks',
    [
      us,
      '! Provider: starts of Caller for all entities have been held for 1 min, as the provider answers 503; a start is tried now. 1 extraction waits.',
      banks,
    ],
    [...well, waiting],
    held(open),
  ],
  [
    'the provider, for a breaker of one bank, as it counts calls to the provider',
    [
      us,
      '! Provider: starts of Caller for demo-bank have been held for 1 min, as the provider answers 503; a start is tried now. 0 extractions wait.',
      banks,
    ],
    well,
    held({ ...open, group: 'demo-bank' }),
  ],
  [
    'the provider, for a bank of which most failed before they ran',
    [us, '! Provider: 2 of 3 failed at demo-bank in the last hour, since 11:50Z · starts and reads pass'],
    [...well, ...ended('demo-bank', ['UNCONFIRMED', 'NOT_STARTED', 'COMPLETED'], 30)],
  ],
  [
    'a bank, for what failed',
    [us, provider, '! Banks: 2 of 3 failed at demo-bank in the last hour, since 11:50Z'],
    [...well, ...failing('demo-bank', 30)],
  ],
  [
    'the provider, where most banks fail',
    [
      us,
      '! Provider: 2 of 3 failed at a in the last hour, since 11:50Z, and some at 1 other · starts and reads pass',
    ],
    [...failing('a', 30), ...failing('b', 40), ...well],
  ],
  [
    'unknown, for starts that wait',
    [us, provider, banks, '! Starts: 2 extractions wait to be started, the first for 1 min'],
    [...well, second, waiting],
  ],
  [
    'nobody, for a start that has just been requested',
    [us, provider, banks],
    [...well, { ...waiting, requestedAt: iso(41) }],
  ],
  [
    'nobody, for a line, which ends by itself',
    [us, provider, banks, 'Starts: 1 start waits in line, and the last one starts in about 10 s (12:01:50Z)'],
    [...well, waiting],
    line,
  ],
  [
    'nobody, with what was not counted',
    [us, provider, `${banks} · of the newest 3 executions`],
    well,
    { recent: async () => ({ items: well, complete: false }) },
  ],
  [
    'unknown, for what cannot be read',
    ['! Us: nothing is overdue · no sweep within an hour · queues unknown', provider, banks],
    well,
    { queues: () => denied('sqs:GetQueueAttributes') },
  ],
])('the status line says whose trouble it is: %s', async (_, items, records, sources) => {
  expect(await lineOf(records, sources)).toEqual(items);
});

test('each page has it, and the list counts the same failures', async () => {
  const records = [...well, ...failing('demo-bank', 30)];
  const lines = await Promise.all(
    ['/', '/line', '/health', `/extractions/${idOf(20)}`].map((path) => lineOf(records, {}, path)),
  );
  for (const one of lines) expect(one).toEqual(lines[0]);
  const list = await consoleOver(sourcesWith(records)).text('/');
  expect(list).toContain('2 TIMEOUT_ERROR at demo-bank since 11:50Z');
});
