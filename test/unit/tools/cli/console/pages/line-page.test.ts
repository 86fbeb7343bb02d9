import { expect, test } from 'vitest';
import { consoleOver, sourcesWith } from '#support/browser/console-fixtures.ts';
import { at, extractionIn, idOf, iso } from '#support/data/extraction-fixtures.ts';
import type { LineHistory } from '#tools/cli/aws/read-line-history.ts';
import type { ConsoleSources } from '#tools/cli/console/sources/sources.ts';

const pageOf = (more: Partial<ConsoleSources>, query = '') =>
  consoleOver(sourcesWith([], more)).text(`/line${query}`);

const { requestedBy: caller } = extractionIn('REQUESTED');
const lane = { caller, priority: 'background' } as const;
const waiting = [1, 2].map((number) => ({
  ...lane,
  extractionId: idOf(number),
  group: 'bank',
  at: iso(0),
}));

test('the line has who waits and until when, the rate with its reason, and each caller with a link to its rows', async () => {
  const byHand = { perSecond: 0.5, reason: 'their <maintenance>', since: Date.parse(iso(40)) };
  const rate = async () => ({ lanes: [{ ...lane, waiting }], perSecond: 0.5, from: 'hand', byHand }) as const;
  const page = await pageOf({ rate });
  expect(page).toContain('>2 starts wait in line, and the last one starts in about 4 s (12:01:44Z).</h1>');
  expect(page).toContain('0.5 starts a second are made, set 1 min ago: their &lt;maintenance&gt;.');
  expect(page).toContain(`?status=line&amp;caller=${encodeURIComponent(caller)}#result">Caller</a>`);
  expect(page).toContain('The rate became 0.5/s: their &lt;maintenance&gt;.');
  const more = await pageOf({ rate: async () => ({ ...(await rate()), isComplete: false }) });
  expect(more).toContain(
    '>More than 2 starts wait in line, and the last one starts in more than 4 s (12:01:44Z).</h1>',
  );
  expect(more).toContain('More starts wait than were counted.');
  const none = await pageOf({});
  expect(none).toContain('Starts have no limit until the provider answers 429.');
  expect(none).toContain('Nobody waits. Here is each caller that does');
});

/** One minute each, of which the last is now. */
const history = (
  periods: readonly Partial<LineHistory['periods'][number]>[],
  changes: LineHistory['changes'] = [],
) => ({
  line: async () => ({
    periodSeconds: 60,
    changes,
    periods: periods.map((period, index) => ({
      at: at(100 - 60 * (periods.length - index)).getTime(),
      ...period,
    })),
  }),
});

test('what was accepted and refused a second stands beside the rate, whose cuts are labelled with why', async () => {
  const changes = [
    { at: iso(-200), judged: 'cut', perSecond: 1.7, share: 0.09, refused: 9, failed: 0 },
    { at: iso(-100), judged: 'grown', perSecond: 1.75, share: 0, refused: 0 },
    { at: iso(-50), judged: 'undone' },
    { at: iso(-40), judged: 'cut', perSecond: 0.51, share: 0.2, refused: 1, failed: 4 },
  ];
  const idle = Array.from({ length: 40 }, () => ({}));
  const page = await pageOf(
    history([...idle, { started: 60, refused: 6, waiting: 120 }, { started: 90, perSecond: 1.7 }], changes),
  );
  const labels = [...page.matchAll(/class="label"[^>]*>([^<]+)</g)].map(([, text]) => text);
  expect(labels.toSorted()).toEqual([
    '0.51/s: 20 % failed',
    '1.7/s: 9 % were refused',
    'no limit: the rate was not the cause',
  ]);
  expect(page).toContain('accepted: 1, refused: 0.1, rate: –"');
  expect(page).toContain('accepted: 1.5, refused: –, rate: 1.7"');
  expect(page).toContain('The rate became 1.75/s: few were refused, and some wait.');
  // Ten minutes at least, and of what was before nothing but the minute that leads to it.
  expect(page.match(/class="period"/g)).toHaveLength(2 * 10);
});

test('before anything has happened, the charts say what they would show', async () => {
  expect(await pageOf(history([{}, {}]))).toContain(
    'No start was made. Here is how many are accepted and refused',
  );
});
