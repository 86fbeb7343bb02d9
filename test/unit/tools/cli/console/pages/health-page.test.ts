import { expect, test } from 'vitest';
import {
  comparedSubjects,
  consoleOver,
  denied,
  sourcesWith,
  wordsOf,
} from '#support/browser/console-fixtures.ts';
import { extractionIn, iso } from '#support/data/extraction-fixtures.ts';
import { mapFigures } from '#tools/cli/aws/read-hours.ts';
import { pauseActions } from '#tools/cli/console/actions/console-actions.ts';
import type { ConsoleSources } from '#tools/cli/console/sources/sources.ts';

const pageOf = (more: Partial<ConsoleSources>) => consoleOver(sourcesWith([], more)).text('/health');

const remedy = 'Run `npm exec --no -- cosecha --stage prod redrive`.';
const failed = { id: 'stack', result: 'failed', message: 'bad <b>', remedy } as const;
const loaded = { id: 'emulator-load', result: 'skipped', message: 'emulator is overloaded: 24.2' } as const;
const description = 'Callers wait. https://runbook.example/#overdue';
const alarm = { name: 'Cosecha-prod-overdue', description, state: 'ALARM', since: iso(40) } as const;

const quiet = { ...alarm, name: 'Cosecha-prod-quiet', state: 'OK' as const };

const allWell = 'All is well: no check failed, no alarm is in ALARM, and few extractions fail.';
const alarmed = 'It is us. The check stack failed, and the alarm Cosecha-prod-overdue is in ALARM for 1 min.';
const unsure = 'Not everything could be checked.';
const waiting = extractionIn('REQUESTED');
const checksThatFail = (...ids: readonly string[]) => ({
  findings: async () => ids.map((one) => ({ ...failed, id: one })),
});
const unread = (part: keyof ConsoleSources) => ({ [part]: () => denied('cloudwatch:DescribeAlarms') });

test.each<[string, Partial<ConsoleSources>]>([
  [allWell, {}],
  [alarmed, { findings: async () => [failed], alarms: async () => [alarm] }],
  ['It is us. The checks a, b and c failed.', checksThatFail('a', 'b', 'c')],
  ['It is us. The checks a, b and 2 others failed.', checksThatFail('a', 'b', 'c', 'd')],
  ['The alarm Cosecha-prod-overdue is in ALARM for 1 min.', { alarms: async () => [alarm, quiet] }],
  [`It is us. The ${loaded.message}.`, { findings: async () => [loaded] }],
  [unsure, unread('alarms')],
  [unsure, unread('holds')],
  [unsure, unread('subjects')],
  [unsure, unread('open')],
  [unsure, unread('rate')],
  [unsure, unread('lastHour')],
])('the first line answers whether something needs the operator: %s', async (line, sources) => {
  expect(await pageOf(sources)).toContain(`<h1>${line}</h1>`);
});

test('a failed check has its remedy, and an alarm the link to its runbook entry', async () => {
  const page = await pageOf({ findings: async () => [failed], alarms: async () => [alarm] });
  expect(page).toContain('bad &lt;b&gt;');
  expect(page).toContain(
    '→ Run <code>npm exec <span>--no</span> <span>--</span> cosecha <span>--stage</span> prod redrive</code>.',
  );
  expect(page).toContain('<a href="https://runbook.example/#overdue"');
  const unsafe = { ...alarm, description: 'x javascript:alert(1)' };
  expect(await pageOf({ alarms: async () => [unsafe] })).not.toContain('href="javascript');
});

test('what holds calls is in the first line, the worst three of each side in the status line, and more below', async () => {
  const { requestedBy: caller } = waiting;
  const open = { kind: 'open', calls: 'starts', caller, group: 'bank<', since: iso(40) } as const;
  const paused = { kind: 'paused', calls: 'reads', since: iso(40), reason: 'bank <down>' } as const;
  const holds = [paused, ...Array.from({ length: 30 }, () => ({ ...open, nextTurnAt: iso(160) }))];
  const page = await pageOf({ holds: async () => holds });
  expect(page).toContain('<h1>It is us and the provider.</h1>');
  expect(wordsOf(page)).toContain('reads have been paused for 1 min: bank &lt;down&gt;. 0 extractions wait.');
  expect(page).toContain('next turn <time class="ago" datetime="2026-03-01T12:02:40.000Z"');
  for (const rest of [30 - 3, 31 - 25]) expect(page).toContain(`${rest} more are held.`);
});

test('the status line and the page are one reading, and the check of the breakers is not a second one', async () => {
  let reads = 0;
  const page = await pageOf({
    holds: async () => {
      reads += 1;
      return reads === 1 ? [{ kind: 'paused', calls: 'starts', since: iso(1), reason: 'x' }] : [];
    },
    findings: async () => [{ id: 'breakers', result: 'passed', message: 'calls pass' }],
  });
  expect(page).toContain('starts have been paused for');
  expect(page).not.toContain('calls pass');
});

test('an entity that fails stands beside the hour before it', async () => {
  const page = await pageOf({ subjects: comparedSubjects });
  const [first = '', second = ''] = page.split('<tr data-key="lastHour ').slice(1);
  expect(first).toContain('<td data-label="Failed">10 <span class="quiet">(1)</span></td>');
  expect(wordsOf(first)).toContain('8 TIMEOUT_ERROR, 2 NOT_STARTED start-window-over');
  expect(first).toContain(
    '/?status=failed&amp;method=credentials&amp;subject=demo-bank&amp;cause=NOT_STARTED+start-window-over&amp;since=1h#result',
  );
  expect(first).toContain('more than in the hour before (1 of 41)');
  expect(second).toContain('other-bank');
  expect(second).not.toContain('hour before (');
  expect(await pageOf({})).toContain('No extraction was requested or ended within two days.');
  expect(page).not.toContain('By consent, extractions are grouped by product');
  const report = await comparedSubjects();
  const byConsent = report.subjects.map((one) => ({ ...one, subject: 'movement', kind: 'product' as const }));
  const ofConsents = await pageOf({ subjects: async () => ({ ...report, subjects: byConsent }) });
  expect(ofConsents).toContain(
    'By consent, extractions are grouped by product: neither the request nor the record',
  );
});

test('Pause is offered unless calls are paused, Resume while any are held, and both where that is unknown', async () => {
  const actions = pauseActions({} as never);
  const offered = async (holds: ConsoleSources['holds']) => {
    const page = await consoleOver(sourcesWith([], { holds }), { actions }).text('/health');
    return [...page.matchAll(/class="button" href="[^"]+">(\w+ \w+)</g)].map(([, label]) => label);
  };
  const paused = { kind: 'paused', calls: 'starts', since: iso(40), reason: 'x' } as const;
  const open = { kind: 'open', calls: 'starts', caller: 'c', group: 'bank', since: iso(40) } as const;
  expect(await offered(async () => [])).toEqual(['Pause starts', 'Pause reads']);
  expect(await offered(async () => [paused, open])).toEqual(['Resume starts', 'Pause reads']);
  // A breaker holds the starts of one bank. The others can still be paused.
  expect(await offered(async () => [open])).toEqual(['Pause starts', 'Resume starts', 'Pause reads']);
  expect(await offered(() => denied('dynamodb:Scan'))).toHaveLength(4);
});

test('the outcomes of each hour are stacked, lead to the list of that hour, and stand beside the day before', async () => {
  const page = await pageOf({ subjects: comparedSubjects });
  const chart = /<figcaption>Outcomes<.*?<\/figure>/s.exec(page)?.[0] ?? '';
  expect(chart).toContain(
    'href="/token-of-the-console/?hour=2026-03-01T12#result" aria-label="12:00 to 13:00: ended well: 2, by the user: 0, by the caller: 0, failed: 1, all, day before: 50"',
  );
  expect(chart.match(/class="period"/g)).toHaveLength(24);
  const [newest = '', before = ''] = chart.split('<tr><th scope="row">').slice(1);
  expect(newest.replace(/<[^>]*>/g, ' ')).toMatch(/^12:00 +2 +0 +0 +1 +50/);
  expect(before).toMatch(/^11:00/);
});

test('times, deliveries and starts are charts of 24 hours, with the day before', async () => {
  const hours = mapFigures((name) =>
    Array.from({ length: 48 }, (_, index) => (name === 'refused' && index < 47 ? undefined : index)),
  );
  const page = await pageOf({ hours: async () => hours });
  const labels = [...page.matchAll(/aria-label="12:00 to 13:00: ([^"]+)"/g)].map(([, label]) => label);
  expect(labels).toEqual([
    'outcome p95: 47 s, outcome p50: 47 s, start p95: 47 s, start p50: 47 s, outcome p95, day before: 23 s',
    'accepted: 47, refused: 47, accepted, day before: 23',
    'started: 47, refused: 47, most that waited: 47, started, day before: 23',
  ]);
  expect(page).toContain('Nothing ended within 24 hours. Here are the outcomes of each hour.');
});
