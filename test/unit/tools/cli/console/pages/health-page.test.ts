import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../../lib/extraction/record.ts';
import type { ConsoleSources } from '../../../../../../tools/cli/console/sources/sources.ts';
import { summarizeHours } from '../../../../../../tools/cli/console/sources/summarize-hours.ts';
import {
  comparedSubjects,
  consoleOver,
  denied,
  sourcesWith,
} from '../../../../../support/console-fixtures.ts';
import { closedExtraction, extractionIn, iso } from '../../../../../support/extraction-fixtures.ts';

const pageOf = (more: Partial<ConsoleSources>, records: readonly Extraction[] = []) =>
  consoleOver(sourcesWith(records, more)).text('/health');

const failed = {
  id: 'stack',
  result: 'failed',
  message: 'bad <b>',
  remedy: 'Run `cosecha redrive`.',
} as const;
const alarm = {
  name: 'Cosecha-prod-overdue',
  description: 'Callers wait. https://runbook.example/#overdue',
  state: 'ALARM',
  since: iso(40),
} as const;

test('the first line answers whether something needs the operator', async () => {
  expect(await pageOf({})).toContain('All checks passed, and no alarm is in ALARM.');
  const page = await pageOf({ findings: async () => [failed], alarms: async () => [alarm] });
  expect(page).toContain('<h1>1 check failed, and 1 alarm is in ALARM.</h1>');
  expect(await pageOf({ alarms: () => denied('cloudwatch:DescribeAlarms') })).toContain(
    '<h1>Not everything could be checked.</h1>',
  );
});

test('a failed check has its remedy, and an alarm the link to its runbook entry', async () => {
  const page = await pageOf({ findings: async () => [failed], alarms: async () => [alarm] });
  expect(page).toContain('bad &lt;b&gt;');
  expect(page).toContain('→ Run <code>cosecha redrive</code>.');
  expect(page).toContain('<a href="https://runbook.example/#overdue"');
  const unsafe = { ...alarm, description: 'x javascript:alert(1)' };
  expect(await pageOf({ alarms: async () => [unsafe] })).not.toContain('href="javascript');
});

test('a breaker that holds calls is in the first line, in the banner, and below with its reason', async () => {
  const open = { name: 'reads', state: 'open', since: iso(40), until: iso(160) } as const;
  const paused = { name: 'starts', state: 'paused', since: iso(40), reason: 'bank <down>' } as const;
  const page = await pageOf({ breakers: async () => [paused, open] });
  expect(page).toContain('<h1>Calls to the provider are held. All checks');
  expect(page.replace(/<[^>]*>/g, '')).toContain(
    'Starts are paused by an operator since 12:00:40 (bank &lt;down&gt;), until somebody resumes them. 0 wait.',
  );
  expect(page).toContain('<strong>reads</strong> are held: calls to the provider fail');
  expect(page).toContain('next try <time class="ago" datetime="2026-03-01T12:02:40.000Z"');
  expect(await pageOf({ breakers: async () => [{ name: 'reads', state: 'closed' }] })).toContain(
    '</strong> pass',
  );
  expect(await pageOf({})).not.toContain('Calls to the provider');
});

test('the banner and the page are one reading, and the check of the breakers is not a second one', async () => {
  let reads = 0;
  const page = await pageOf({
    breakers: async () => {
      reads += 1;
      return [{ name: 'starts', state: reads === 1 ? 'open' : 'closed' }];
    },
    findings: async () => [{ id: 'breakers', result: 'passed', message: 'calls pass' }],
  });
  expect(page).toContain('Starts are held');
  expect(page).not.toContain('</strong> pass');
  expect(page).not.toContain('calls pass');
});

test('sweeps and queues are shown with their ages and counts', async () => {
  const page = await pageOf({
    sweeps: async () => ({ items: [{ at: iso(40), sent: 3, failed: 0 }], complete: true }),
    queues: async () => [
      { name: 'dead letters', isDeadLetters: true, waiting: 1_200, later: 0, inFlight: 7 },
    ],
  });
  expect(page).toContain('1 min ago</time>. It sent 3 to the reconcile queue.');
  expect(page).toContain(
    '<td data-label="Waiting">1,200</td><td data-label="Delayed">0</td><td data-label="In flight">7</td>',
  );
  expect(await pageOf({})).toContain('No sweep finished within an hour.');
});

test('figures stand beside those of an hour and a day ago, where CloudWatch has any', async () => {
  const overdue = { figure: 'Overdue', unit: 'seconds', hours: [90, undefined, 0] } as const;
  const page = await pageOf({ trends: async () => [overdue] });
  expect(page).toContain(
    '<td data-label="Last hour">1 min 30 s</td><td data-label="An hour ago" class="none">–</td><td data-label="A day ago">0 s</td>',
  );
  const none = { ...overdue, hours: [undefined, undefined, undefined] };
  expect(await pageOf({ trends: async () => [none] })).toContain('CloudWatch has no figures');
});

test('an entity that fails is in the first line, and beside the hour before it below', async () => {
  const page = await pageOf({ subjects: comparedSubjects });
  expect(page).toContain('<h1>Most extractions at demo-bank fail. All checks passed');
  const [first = '', second = ''] = page.split('<tr data-key="lastHour ').slice(1);
  expect(first).toContain('<td data-label="Failed">10 <span class="quiet">(1)</span></td>');
  expect(first).toContain('8 TIMEOUT_ERROR, 2 NOT_STARTED start-window-over');
  expect(first).toContain('more than in the hour before (1 of 41)');
  expect(second).toContain('other-bank');
  expect(second).not.toContain('hour before (');
  expect(await pageOf({})).toContain('No extraction was requested or ended within two days.');
  expect(await pageOf({ subjects: () => denied('logs:StartQuery') })).toContain('to logs:StartQuery on r.');
});

test('outcomes are counted by the hour in which they ended, with the time they took', () => {
  const ended = (status: Extraction['status'], seconds: number, requested = 0) =>
    closedExtraction({ status, requestedAt: iso(requested), settledAt: iso(requested + seconds) });
  const records = [
    extractionIn('RUNNING'),
    ...[10, 20, 30, 40].map((seconds) => ended('COMPLETED', seconds)),
    ended('PARTIAL', 5),
    ended('REJECTED', 1, 3_600),
    ended('UNCONFIRMED', 90, 3_600),
  ];
  expect(summarizeHours(records)).toEqual([
    { hour: iso(3_600), completed: 0, partial: 0, failed: 1, unknown: 1, p50: 1, p95: 90 },
    { hour: iso(0), completed: 4, partial: 1, failed: 0, unknown: 0, p50: 20, p95: 40 },
  ]);
});
