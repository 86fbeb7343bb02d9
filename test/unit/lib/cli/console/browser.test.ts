import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ConsoleAction } from '../../../../../lib/cli/console/actions.ts';
import { type RunningConsole, serveConsole } from '../../../../../lib/cli/console/serve-console.ts';
import type { ConsoleSources } from '../../../../../lib/cli/console/sources.ts';
import { CliError } from '../../../../../lib/cli/errors.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { describeInChromium, launchChromium } from '../../../../support/chromium.ts';
import { sourcesWith } from '../../../../support/console-fixtures.ts';
import { allStatuses, at, extractionIn, iso } from '../../../../support/extraction-fixtures.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const idOf = (index: number): string => `0190a0b0-0000-7000-8000-0000000000${String(index).padStart(2, '0')}`;

const recordsOfAllStatuses = (): Extraction[] => [
  ...allStatuses.map((status, index) => extractionIn(status, { extractionId: idOf(index) })),
  extractionIn('RUNNING', { extractionId: idOf(99), dueAt: iso(10), reference: 'overdue one' }),
];

/** Something of every kind that the other pages show. */
const troubles: Partial<ConsoleSources> = {
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
  sweeps: async () => ({ items: [{ at: iso(40), claimed: 3, closed: 2, failed: 0 }], complete: true }),
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
  }, 60_000);
  afterEach(async () => {
    records = recordsOfAllStatuses();
    await Promise.all(pages.splice(0).map((page) => page.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close();
  });

  const open = async (path = '', options: Parameters<Browser['newPage']>[0] = {}) => {
    const page = await browser.newPage(options);
    pages.push(page);
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${running.url}${path}`);
    return { page, problems };
  };

  for (const colorScheme of ['light', 'dark'] as const) {
    test.each([
      ['the list', ''],
      ['an extraction', `extractions/${idOf(3)}`],
      ['deliveries', 'deliveries'],
      ['health', 'health'],
      ['the sandbox', 'sandbox'],
      ['a confirmation', `actions/pause`],
    ])(`axe finds no violation on %s, ${colorScheme}`, async (_, path) => {
      const { page, problems } = await open(path, { colorScheme });
      // Not as a script element: the content security policy would refuse it.
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => {
        const { axe: loaded } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        return (await loaded.run()).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
      });
      expect(violations).toEqual([]);
      expect(problems).toEqual([]);
    });
  }

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
    await page.getByRole('heading', { name: idOf(99) }).waitFor();
  });

  test('an action asks first, is confirmed by keyboard, and acts on the extraction', async () => {
    const { page, problems } = await open(`extractions/${idOf(3)}`);
    await page.getByRole('link', { name: 'Reconcile now' }).press('Enter');
    await page.getByRole('heading', { name: 'Reconcile now?' }).waitFor();
    await page.getByRole('button', { name: 'Reconcile now' }).press('Enter');
    await page.getByText(`Done with ${idOf(3)}.`).waitFor();
    expect(problems).toEqual([]);
  });

  test('a screen of 400 px needs no scrolling to the side', async () => {
    for (const path of ['', `extractions/${idOf(3)}`, 'deliveries', 'health', 'sandbox']) {
      const { page } = await open(path, { viewport: { width: 400, height: 800 } });
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(excess).toBeLessThanOrEqual(0);
    }
  });

  test('1,000 open extractions are on the page', async () => {
    records = Array.from({ length: 1_000 }, (_, index) =>
      extractionIn('RUNNING', { extractionId: `0190a0b0-0000-7000-8000-${String(index).padStart(12, '0')}` }),
    );
    const { page } = await open();
    expect(await page.locator('tbody tr').count()).toBe(1_000);
  });
});
