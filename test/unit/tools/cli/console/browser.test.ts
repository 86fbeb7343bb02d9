import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { ConsoleAction } from '../../../../../tools/cli/console/actions.ts';
import { type RunningConsole, serveConsole } from '../../../../../tools/cli/console/serve-console.ts';
import type { ConsoleSources } from '../../../../../tools/cli/console/sources.ts';
import { CliError } from '../../../../../tools/cli/terminal/errors.ts';
import { describeInChromium, launchChromium, openTab } from '../../../../support/chromium.ts';
import { sourcesWith } from '../../../../support/console-fixtures.ts';
import { allStatuses, at, extractionIn, iso } from '../../../../support/extraction-fixtures.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const idOf = (index: number): string => `0190a0b0-0000-7000-8000-0000000000${String(index).padStart(2, '0')}`;

const recordsOfAllStatuses = (): Extraction[] => [
  ...allStatuses.map((status, index) => extractionIn(status, { extractionId: idOf(index) })),
  extractionIn('RUNNING', { extractionId: idOf(99), dueAt: iso(-3_600), reference: 'overdue one' }),
];

/** Something of every kind that the other pages show. */
const troubles: Partial<ConsoleSources> = {
  story: async (extractionId) => ({
    extractionId,
    status: 'RUNNING',
    headline: "Waits for the provider's webhook.",
    lines: [
      { at: iso(0), lane: 'api', who: 'API', what: 'Somebody requested movement.' },
      { at: iso(1), until: iso(60), lane: 'machine', who: 'Step Functions', what: 'State StartTask.' },
      {
        at: iso(2),
        lane: 'machine',
        who: 'Step Functions',
        what: 'Try failed.',
        attempt: 1,
        verdict: 'failed',
      },
      { at: iso(30), lane: 'webhook', who: 'receive-webhook', what: 'Recorded a delivery.', verdict: 'ok' },
    ],
    notShown: ['The stream keeps 24 h.'],
  }),
  deliveries: async () => ({
    items: [
      {
        at: iso(9),
        taskId: 'task-1',
        extractionId: idOf(3),
        answer: 204,
        verdict: 'recorded',
        wake: 'woken',
      },
      { at: iso(8), taskId: 'task-2', answer: 204, verdict: 'stored' },
      { at: iso(7), answer: 401, verdict: 'mismatch' },
      { at: iso(6), answer: 500, verdict: 'failed' },
    ],
    complete: false,
  }),
  sweeps: async () => ({ items: [{ at: iso(40), sent: 3, failed: 0 }], complete: true }),
  findings: async () => [
    { id: 'stack', result: 'passed', message: 'stack Cosecha-prod is CREATE_COMPLETE' },
    { id: 'sweep', result: 'skipped', message: 'last sweep: skipped' },
    { id: 'overdue', result: 'failed', message: '1 overdue', remedy: '`cosecha reconcile` reconciles it.' },
  ],
  alarms: async () => [
    { name: 'Cosecha-prod-overdue', description: 'Late. https://runbook.example/#overdue', state: 'ALARM' },
  ],
  queues: async () => Promise.reject(new CliError('A permission is missing.')),
};

const actions: readonly ConsoleAction[] = [
  { id: 'reconcile', label: 'Reconcile now', place: 'extraction' },
  { id: 'pause', label: 'Pause starts', place: 'health', input: 'Reason' },
  { id: 'lost', label: 'lost', place: 'sandbox', group: 'Start an extraction whose webhook is' },
].map((action) => ({
  ...action,
  place: action.place as ConsoleAction['place'],
  effect: 'It does this.',
  changes: true,
  run: async (subject, input) => ({ text: `Done with ${subject}${input}.` }),
}));

describeInChromium('the console', () => {
  let records: Extraction[] = recordsOfAllStatuses();
  let running: RunningConsole;
  let browser: Browser;
  const pages: Page[] = [];
  beforeAll(async () => {
    running = await serveConsole(0, {
      stage: 'prod',
      sources: sourcesWith([], {
        open: async () => records,
        record: async (id) => records.find(({ extractionId }) => extractionId === id),
        recent: async () => ({ items: records, complete: false }),
        ...troubles,
      }),
      now: () => at(100),
      sleep: (milliseconds) => delay(milliseconds),
      everyMs: 20,
      actions,
      random: randomUUID,
      onAction: () => undefined,
      onError: (error) => {
        throw error;
      },
    });
    browser = await launchChromium();
  });
  afterEach(async () => {
    records = recordsOfAllStatuses();
    await Promise.all(pages.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close();
  });

  const open = async (path = '', options: Parameters<Browser['newPage']>[0] = {}) => {
    const page = await openTab(browser, options);
    pages.push(page);
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${running.url}${path}`);
    return { page, problems };
  };

  const violationsOn = async (page: Page) => {
    // Not as a script element: the content security policy would refuse it.
    await page.evaluate(axe);
    return page.evaluate(async () => {
      const { axe: loaded } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await loaded.run()).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    });
  };

  test.each([
    ['the list', ''],
    ['an extraction', `extractions/${idOf(3)}`],
    ['deliveries', 'deliveries'],
    ['health', 'health'],
    ['the sandbox', 'sandbox'],
    ['a confirmation', 'actions/pause'],
  ])('axe finds no violation on %s, light and dark, and it fits into 400 px', async (_, path) => {
    const { page, problems } = await open(path, { viewport: { width: 1_280, height: 800 } });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOn(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
  });

  test('a page shows a change by itself, and the focus stays where it was', async () => {
    const { page } = await open();
    await page.getByRole('heading', { name: '1 extraction is overdue.' }).waitFor();
    const link = page.locator(`a[href$="${idOf(1)}"]`);
    await link.focus();
    records = records.filter(({ extractionId }) => extractionId !== idOf(99));
    await page.getByRole('heading', { name: 'none is overdue' }).waitFor();
    expect(await link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  });

  test('a field that somebody types into is not replaced', async () => {
    const { page } = await open();
    const field = page.getByLabel('Reference or id');
    await page.keyboard.press('/');
    await page.keyboard.type('over');
    records = [];
    await page.getByText('live', { exact: true }).waitFor();
    await page.keyboard.type('due');
    expect(await field.inputValue()).toBe('overdue');
    await page.keyboard.press('Enter');
    await page.getByText('No extraction matches.').waitFor();
  });

  test('without script, the filter works by keyboard and the page reloads itself', async () => {
    const { page } = await open('', { javaScriptEnabled: false });
    expect(await page.locator('meta[http-equiv="refresh"]').count()).toBe(1);
    await page.getByLabel('Reference or id').press('a');
    await page.getByLabel('Reference or id').fill('overdue one');
    await page.getByLabel('Reference or id').press('Enter');
    await page.waitForURL(/name=overdue/);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: /^0190a0b0/ }).click();
    await page.getByText(idOf(99)).first().waitFor();
  });

  test('an action asks first, is confirmed by keyboard, and acts on the extraction', async () => {
    const { page, problems } = await open(`extractions/${idOf(3)}`);
    await page.getByRole('link', { name: 'Reconcile now' }).press('Enter');
    await page.getByRole('heading', { name: 'Reconcile now?' }).waitFor();
    await page.getByRole('button', { name: 'Reconcile now' }).press('Enter');
    await page.getByText(`Done with ${idOf(3)}.`).waitFor();
    expect(problems).toEqual([]);
  });

  test('a mark of the timeline leads to its line, and a zoom shows a part of it', async () => {
    const { page } = await open(`extractions/${idOf(3)}`);
    await page.locator('svg a[href="#line-3"]').press('Enter');
    expect(await page.locator('#line-3').evaluate((row) => row.matches(':target'))).toBe(true);
    await page.getByRole('link', { name: 'Zoom in' }).press('Enter');
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.getByRole('link', { name: 'All' }).waitFor();
  });

  test('1,000 open extractions are on the page', async () => {
    records = Array.from({ length: 1_000 }, (_, index) =>
      extractionIn('RUNNING', { extractionId: `0190a0b0-0000-7000-8000-${String(index).padStart(12, '0')}` }),
    );
    const { page } = await open();
    expect(await page.locator('tbody tr').count()).toBe(1_000);
  });
});
