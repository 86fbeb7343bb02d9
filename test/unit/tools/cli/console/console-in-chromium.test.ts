import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import type { ConsoleAction } from '../../../../../tools/cli/console/actions/action-types.ts';
import { type RunningConsole, serveConsole } from '../../../../../tools/cli/console/serve-console.ts';
import { commandTextOf } from '../../../../../tools/cli/terminal/command-text.ts';
import { describeInChromium, launchChromium, openTab } from '../../../../support/browser/chromium.ts';
import { sourcesWith } from '../../../../support/browser/console-fixtures.ts';
import { allStatuses, at, extractionIn, iso } from '../../../../support/data/extraction-fixtures.ts';
import { eventually } from '../../../../support/eventually.ts';

const idOf = (index: number): string => `0190a0b0-0000-7000-8000-0000000000${String(index).padStart(2, '0')}`;

const recordsOfAllStatuses = (): Extraction[] => [
  ...allStatuses.map((status, index) => extractionIn(status, { extractionId: idOf(index) })),
  extractionIn('RUNNING', { extractionId: idOf(99), dueAt: iso(-3_600), reference: 'overdue one' }),
];

const reconcileNow: ConsoleAction = {
  id: 'reconcile',
  label: 'Reconcile now',
  place: 'extraction',
  effect: 'It does this.',
  changes: true,
  run: async (subject) => ({ text: `Done with ${subject}.` }),
};

const polled = { lane: 'machine', source: 'Step Functions', what: 'Polled.' } as const;
const lines = [0, 50, 50.1, 50.2].map((seconds) => ({ ...polled, at: iso(seconds) }));
const story = { status: 'RUNNING', headline: 'It runs.', lines, notShown: [] };

describeInChromium('the console', () => {
  let records: Extraction[] = recordsOfAllStatuses();
  const deps: Parameters<typeof serveConsole>[1] = {
    stage: 'prod',
    command: commandTextOf({ stage: 'prod' }),
    sources: sourcesWith([], {
      story: async (extractionId) => ({ ...story, extractionId }),
      open: async () => records,
      record: async (id) => records.find(({ extractionId }) => extractionId === id),
      recent: async () => ({ items: records, complete: false }),
    }),
    now: () => at(100),
    sleep: (milliseconds) => delay(milliseconds),
    everyMs: 20,
    actions: [reconcileNow],
    random: randomUUID,
    onAction: () => undefined,
    onError: (error) => {
      throw error;
    },
  };
  let running: RunningConsole;
  let browser: Browser;
  const pages: Page[] = [];
  beforeAll(async () => {
    running = await serveConsole(0, deps);
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

  const open = async (path = '', options: Parameters<Browser['newPage']>[0] = {}, url = running.url) => {
    const page = await openTab(browser, options);
    pages.push(page);
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${url}${path}`);
    return { page, problems };
  };

  test('a page shows a change by itself, and focus and selection stay where they were', async () => {
    const { page } = await open();
    await page.getByRole('heading', { name: '1 extraction is overdue.' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.locator(`tr[data-key="${idOf(3)}"] .next`).selectText();
    const selected = () => page.evaluate('String(getSelection())');
    const before = await selected();
    expect(before).not.toBe('');
    const link = page.locator(`a[href$="${idOf(1)}"]`);
    await link.focus();
    records = records.filter(({ extractionId }) => extractionId !== idOf(99));
    await page.getByRole('heading', { name: 'none is overdue' }).waitFor();
    expect(await link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await selected()).toBe(before);
  });

  test('a field that somebody types into is not replaced', async () => {
    const { page } = await open();
    const field = page.getByLabel('Id, task or reference');
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
    await page.getByLabel('Id, task or reference').press('a');
    await page.getByLabel('Id, task or reference').fill('overdue one');
    await page.getByLabel('Id, task or reference').press('Enter');
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
    // A GET: nothing is sent again.
    expect((await page.reload())?.request().method()).toBe('GET');
    await page.getByText(`Done with ${idOf(3)}.`).waitFor();
    expect(problems).toEqual([]);
  });

  test('after a button, a form or a link that changes a page, the focus is where its result is', async () => {
    records = Array.from({ length: 320 }, (_, index) =>
      extractionIn(index === 0 ? 'TIMED_OUT' : 'RUNNING', {
        extractionId: `${idOf(0).slice(0, -3)}${100 + index}`,
      }),
    );
    const { page } = await open();
    // A browser moves it after the page has its address.
    const focusIsOn = (id: string) =>
      eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe(id));
    const press = async (role: 'button' | 'link', name: string | RegExp, address: RegExp, result: string) => {
      const control = page.getByRole(role, { name }).first();
      await control.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(address);
      await page.getByText('live', { exact: true }).or(page.getByText('not updated')).first().waitFor();
      await focusIsOn(result);
    };
    await press('button', 'Filter', /status=any/, 'result');
    await press('link', 'Next 300', /page=2/, 'rows');
    await press('link', 'Reset', /\/#result$/, 'result');
    await press('link', /^1 TIMED_OUT/, /status=failed/, 'result');
    const { extractionId = '' } = records[1] ?? {};
    await page.goto(`${running.url}extractions/${extractionId}`);
    await press('link', /\d events$/, /from=\d/, 'timeline');
    await press('link', 'All', /\?#timeline$/, 'timeline');
    await press('link', 'Reconcile now', /actions/, 'result');
    await press('link', 'Cancel', /#action-reconcile$/, 'action-reconcile');
    await press('link', 'Reconcile now', /actions/, 'result');
    await press('button', 'Reconcile now', /did=/, 'notice');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as text' }).press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await focusIsOn('copy');
  });

  test('a mark of the timeline leads to its line, and a zoom shows a part of it', async () => {
    const { page } = await open(`extractions/${idOf(3)}`);
    await page.locator('svg a[href="#line-0"]').first().press('Enter');
    expect(await page.locator('#line-0').evaluate((row) => row.matches(':target'))).toBe(true);
    await page.getByLabel('Zoom').getByRole('link').first().press('Enter');
    await page.waitForURL(/from=\d+&to=\d+/);
    await page.getByRole('link', { name: 'All', exact: true }).waitFor();
  });

  test('a timeline that is wider than its window says that it goes on, and can be scrolled there by keyboard', async () => {
    const { page } = await open(`extractions/${idOf(3)}`, { viewport: { width: 400, height: 800 } });
    const hint = page.getByText('The timeline goes on to the right');
    expect(await hint.isVisible()).toBe(true);
    const drawing = page.locator('.drawn [tabindex="0"]');
    await drawing.press('ArrowRight');
    await eventually(async () =>
      expect(await drawing.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0),
    );
    await page.setViewportSize({ width: 1_280, height: 800 });
    expect(await hint.isVisible()).toBe(false);
  });

  test('an update replaces no element of the page, not even the first one', async () => {
    const { page } = await open(`extractions/${idOf(3)}`);
    await page.addInitScript(
      "document.addEventListener('DOMContentLoaded', () => { globalThis.mark = document.querySelector('main svg a'); })",
    );
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.evaluate('mark.isConnected')).toBe(true);
  });

  test('the badge says when updates pause, and a console that is gone leaves a banner over grey data', async () => {
    const own = await serveConsole(0, deps);
    const { page } = await open('', {}, own.url);
    await page.getByText('live', { exact: true }).waitFor();
    const hide = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await hide(true);
    await page.getByText('paused while the page is hidden').waitFor();
    await hide(false);
    await page.getByText('live', { exact: true }).waitFor();
    await own.close();
    await page.getByText('The console does not answer.').waitFor();
    expect(await page.locator('main.stale').count()).toBe(1);
  });

  test('a phone begins with the first row, whose cells have their headers, and its filter stays open', async () => {
    const { page } = await open('', { viewport: { width: 390, height: 844 } });
    const row = await page.locator('tbody tr').first().boundingBox();
    expect(row?.y).toBeLessThan(844 / 2);
    const headers = await page.evaluate(
      "[...document.querySelector('tbody tr').cells].map((cell) => getComputedStyle(cell, '::before').content)",
    );
    const names = 'Status|Extraction|Entity or product|Caller|Reference|Requested|Next'.split('|');
    expect(headers).toEqual(names.map((text) => `"${text}"`));
    const field = page.getByLabel('Id, task or reference');
    expect(await field.isVisible()).toBe(false);
    await page.keyboard.press('/');
    expect(await field.isVisible()).toBe(true);
    records = [];
    await page.getByRole('heading', { name: 'Nothing is open.' }).waitFor();
    expect(await field.isVisible()).toBe(true);
  });

  test('on a wide page the filter is there without opening it, and no reference is broken', async () => {
    records = [extractionIn('RUNNING', { reference: 'order-with-many-parts-1042' })];
    const { page } = await open('', { viewport: { width: 1_280, height: 800 } });
    expect(await page.getByLabel('Caller').isVisible()).toBe(true);
    const cell = page.getByText('order-with-many-parts-1042');
    const lines = await cell.evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    });
    expect(lines).toBe(1);
  });

  test("the browser's own time stands beside UTC", async () => {
    const { page } = await open(`extractions/${idOf(3)}`, { timezoneId: 'Asia/Kolkata' });
    await page.locator('#line-0').getByText('12:00:00.000').waitFor();
    await page.locator('#line-0').getByText('17:30:00 local').waitFor();
  });
});
