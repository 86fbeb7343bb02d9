import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { describeInChromium, launchChromium, openTab } from '#support/browser/chromium.ts';
import { consoleDeps, sourcesWith } from '#support/browser/console-fixtures.ts';
import { allStatuses, extractionIn, idOf, iso } from '#support/data/extraction-fixtures.ts';
import { eventually } from '#support/eventually.ts';
import type { ConsoleAction } from '#tools/cli/console/actions/action-types.ts';
import { type RunningConsole, serveConsole } from '#tools/cli/console/serve-console.ts';

const recordsOfAllStatuses = (): Extraction[] => [
  ...allStatuses.map((status, index) => extractionIn(status, { extractionId: idOf(index) })),
  extractionIn('RUNNING', { extractionId: idOf(99), dueAt: iso(-3_600), reference: 'overdue one' }),
];

const reconcileNow: ConsoleAction = {
  id: 'reconcile',
  label: 'Reconcile now',
  place: 'extraction',
  effect: 'It does this.',
  run: async (subject) => ({ text: `Done with ${subject}.` }),
};

const polled = { lane: 'machine', source: 'Step Functions', what: 'Polled.' } as const;
const lines = [0, 50, 50.1, 50.2].map((seconds) => ({ ...polled, at: iso(seconds) }));
const story = { status: 'RUNNING', headline: 'It runs.', lines, notShown: [] };

describeInChromium('the console', () => {
  let records: Extraction[] = recordsOfAllStatuses();
  const sources = sourcesWith([], {
    story: async (extractionId) => ({ ...story, extractionId }),
    open: async () => records,
    record: async (id) => records.find(({ extractionId }) => extractionId === id),
    recent: async () => ({ items: records, complete: false }),
  });
  const deps: Parameters<typeof serveConsole>[1] = {
    ...consoleDeps(sources),
    sleep: (milliseconds) => delay(milliseconds),
    everyMs: 20,
    actions: [reconcileNow],
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
    const field = page.locator('#name');
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
    await page.locator('#name').press('a');
    await page.locator('#name').fill('overdue one');
    await page.locator('#name').press('Enter');
    await page.waitForURL(/name=overdue/);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: /^0190a0b0/ }).click();
    await page.getByText(idOf(99)).first().waitFor();
  });

  test('after a button, a form or a link that changes a page, the focus is where its result is', async () => {
    records = Array.from({ length: 320 }, (_, index) =>
      extractionIn(index === 0 ? 'TIMED_OUT' : 'RUNNING', {
        extractionId: idOf(100 + index),
      }),
    );
    const { page, problems } = await open();
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
    await press('button', 'Search', /status=any/, 'result');
    await press('link', 'Next 300', /page=2/, 'rows');
    await press('link', /^1 TIMED_OUT/, /status=failed/, 'result');
    await press('link', 'Reset', /\/#result$/, 'result');
    const { extractionId = '' } = records[1] ?? {};
    await page.goto(`${running.url}extractions/${extractionId}`);
    await press('link', 'Reconcile now', /actions/, 'result');
    await press('link', 'Cancel', /#action-reconcile$/, 'action-reconcile');
    await press('link', 'Reconcile now', /actions/, 'result');
    await press('button', 'Reconcile now', /did=/, 'notice');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as text' }).press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await focusIsOn('copy');
    expect(problems).toEqual([]);
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

  test('a phone begins with the first row, whose cells have their headers', async () => {
    const { page } = await open('', { viewport: { width: 390, height: 844 } });
    const row = await page.locator('tbody tr').first().boundingBox();
    expect(row?.y).toBeLessThan(844 / 2);
    const headers = await page.evaluate(
      "[...document.querySelector('tbody tr').cells].map((cell) => getComputedStyle(cell, '::before').content)",
    );
    const names = 'Status|Extraction|Entity or product|Reference|Caller|Requested|Duration|Next|Advice'.split(
      '|',
    );
    expect(headers).toEqual(names.map((text) => `"${text}"`));
  });

  test('the other filters are behind one button, which stays open while the page changes', async () => {
    const { page } = await open();
    const field = page.getByLabel('Batch', { exact: true });
    expect(await field.isVisible()).toBe(false);
    await page.getByText('Filters', { exact: true }).press('Enter');
    expect(await field.isVisible()).toBe(true);
    records = [];
    await page.getByRole('heading', { name: 'Nothing is open.' }).waitFor();
    expect(await field.isVisible()).toBe(true);
  });

  /** Of all rows, which are wholly in the window, and how high they are. */
  const rowsIn = (page: Page) =>
    page.evaluate<{ seen: number; heights: number[] }>(`(() => {
      const boxes = [...document.querySelectorAll('#rows tbody tr')].map((row) => row.getBoundingClientRect());
      const seen = boxes.filter(({ bottom }) => bottom <= innerHeight);
      return { seen: seen.length, heights: [...new Set(boxes.map(({ height }) => Math.round(height)))] };
    })()`);

  const crowd = () =>
    Array.from({ length: 60 }, (_, index) =>
      extractionIn('RUNNING', {
        extractionId: idOf(index),
        reference: `order-with-many-parts-that-does-not-fit-${index}`,
        requestedAt: iso(-index),
      }),
    );

  test.each([800, 1_200])(
    'at %s points, a row is one line, the header stays, and 20 rows are seen',
    async (width) => {
      records = crowd();
      const { page } = await open('', { viewport: { width, height: 900 } });
      const { seen, heights } = await rowsIn(page);
      expect(seen).toBeGreaterThanOrEqual(20);
      expect(heights).toHaveLength(1);
      await page.evaluate('scrollTo(0, 600)');
      expect((await page.locator('#rows thead th').first().boundingBox())?.y).toBe(0);
    },
  );

  test('j and k go through the rows, whose texts are whole there, Enter opens one, and ? lists the keys', async () => {
    records = crowd();
    const { page } = await open('', { viewport: { width: 1_200, height: 900 } });
    const isWhole = (index: number) =>
      page
        .locator(`#rows tbody tr:nth-child(${index + 1}) td:nth-of-type(3) .cut`)
        .evaluate((cell) => cell.scrollWidth <= cell.clientWidth);
    const focused = () => page.evaluate("document.activeElement.closest('tr')?.dataset.key");
    for (const [key, index] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused()).toBe(idOf(index));
    }
    expect([await isWhole(1), await isWhole(2)]).toEqual([true, false]);
    await page.keyboard.press('?');
    expect(await page.getByText('next row, row before').isVisible()).toBe(true);
    await page.keyboard.press('?');
    expect(await page.getByText('next row, row before').isVisible()).toBe(false);
    // What is typed into a field is no key.
    await page.locator('#name').press('j');
    expect(await page.locator('#name').inputValue()).toBe('j');
    await page.locator('#name').blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(idOf(0)));
  });

  test('Tab stops once at a chart, whose periods the arrow keys go through, and hover and focus show the values', async () => {
    const hour = (well: number) => ({
      subject: 'bank',
      hour: '2026-03-01T12:00:00.000Z',
      ended: well,
      well,
      user: 0,
      caller: 0,
      failed: 0,
    });
    const subjects = async () => ({ subjects: [], hours: [hour(7)], complete: true });
    const own = await serveConsole(0, { ...deps, sources: { ...sources, subjects } });
    const { page } = await open('health', {}, own.url);
    const periods = page.locator('.chart .period');
    expect(await page.locator('.chart .period[tabindex="0"]').count()).toBe(1);
    await periods.last().focus();
    expect(await page.getByText('ended well: 7').isVisible()).toBe(true);
    await page.keyboard.press('ArrowLeft');
    expect(await periods.nth(22).evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    expect(await page.getByText('ended well: 7').isVisible()).toBe(false);
    await periods.last().locator('.hit').hover();
    expect(await page.getByText('ended well: 7').isVisible()).toBe(true);
    await periods.last().locator('.hit').click();
    await page.waitForURL(/hour=2026-03-01T12/);
    await own.close();
  });

  test("the browser's own time stands beside UTC", async () => {
    const { page } = await open(`extractions/${idOf(3)}`, { timezoneId: 'Asia/Kolkata' });
    await page.locator('#line-0').getByText('12:00:00.000').waitFor();
    await page.locator('#line-0').getByText('17:30:00 local').waitFor();
  });
});
