import { expect, test } from 'vitest';
import { id, iso } from '#support/data/extraction-fixtures.ts';
import { formatStory } from '#tools/cli/explain/format-story.ts';
import type { StoryLine } from '#tools/cli/explain/story.ts';

const line = (seconds: number, what: string, rest: Partial<StoryLine> = {}): StoryLine => {
  const own = { lane: 'machine', source: 'Step Functions' } as const;
  return { ...own, at: iso(seconds), what, ...rest };
};

test('a story is a headline, a line for each event under its day, and what is missing', () => {
  const poll = (seconds: number, attempt: number) => line(seconds, 'Polled: not yet.', { attempt });
  expect(
    formatStory({
      extractionId: id,
      status: 'RUNNING',
      headline: 'Waits.',
      lines: [
        line(0, 'Requested.', { source: 'API', until: iso(86_400) }),
        line(1, 'Try failed: ProviderBusy.', { attempt: 1, nextAt: iso(3), verdict: 'failed' }),
        ...[10, 20, 30, 40, 50].map((seconds, index) => poll(seconds, index + 1)),
        line(86_400, 'Ended.', { verdict: 'ok' }),
      ],
      notShown: ['The stream: no permission.'],
    }),
  ).toEqual([
    `${id}  RUNNING`,
    'Waits.',
    '',
    '2026-03-01',
    '12:00:00.000Z    API             Requested.  [until 2026-03-02T12:00:00.000Z]',
    '12:00:01.000Z  ✗ Step Functions  Try failed: ProviderBusy.  [try 1, next 12:00:03.000Z]',
    '12:00:10.000Z    Step Functions  Polled: not yet.  [try 1]',
    '                 3 more of these',
    '12:00:50.000Z    Step Functions  Polled: not yet.  [try 5]',
    '2026-03-02',
    '12:00:00.000Z  ✓ Step Functions  Ended.',
    '',
    'Not shown:',
    '  The stream: no permission.',
  ]);
});

test('at 60 columns no line is longer, and a line that goes on is indented to its text', () => {
  const printed = formatStory(
    {
      extractionId: id,
      status: 'RUNNING',
      headline: "Waits for the provider's webhook until 12:10:00Z; then the machine polls every 2 min.",
      lines: [
        line(1, 'Wrote RUNNING: the provider accepted the start as task task-1.', { source: 'start-task' }),
        line(2, `Counted ${'x'.repeat(40)}.`, { source: 'start-task' }),
      ],
      notShown: ['The stream: AWS does not allow you to dynamodb:GetRecords, a permission.'],
    },
    60,
  );
  expect(printed).toEqual([
    `${id}  RUNNING`,
    "Waits for the provider's webhook until 12:10:00Z; then the",
    'machine polls every 2 min.',
    '',
    '2026-03-01',
    '12:00:01.000Z    start-task  Wrote RUNNING: the provider',
    '                             accepted the start as task',
    '                             task-1.',
    '12:00:02.000Z    start-task  Counted',
    `                             ${'x'.repeat(31)}`,
    `                             ${'x'.repeat(9)}.`,
    '',
    'Not shown:',
    '  The stream: AWS does not allow you to dynamodb:GetRecords,',
    '  a permission.',
  ]);
});
