import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium, launchChromium, openTab } from '#support/browser/chromium.ts';
import { completedId, picturedDeps, waitingId } from '#support/browser/console-pictures.ts';
import { layoutFaults } from '#support/browser/layout-faults.ts';
import { at } from '#support/data/extraction-fixtures.ts';
import { type RunningConsole, serveConsole } from '#tools/cli/console/serve-console.ts';

/** A small phone, a larger one, the smallest with tables, half of a screen, a laptop, and a larger one. */
const widths = [360, 400, 800, 900, 1_200, 1_440];

const pages = [
  ['day', ''],
  ['day', 'deliveries'],
  ['day', 'health'],
  ['sandbox', 'sandbox'],
  ['day', `extractions/${completedId}`],
  ['day', 'nowhere'],
  ['outage', '?status=open'],
  ['outage', 'health'],
  ['outage', `extractions/${waitingId}`],
  ['outage', `actions/action-0?subject=${waitingId}`],
  ['day', 'actions/request-again?subject=status%3Dfailed'],
  ['crowd', ''],
  ['crowd', 'line'],
  ['long', ''],
  ['long', 'line'],
  ['long', 'deliveries'],
  ['long', 'health'],
  ['long', `extractions/${completedId}`],
  ['long', `extractions/${waitingId}`],
] as const;

describeInChromium('the layout of the console', () => {
  const running = new Map<string, RunningConsole>();
  let browser: Browser;
  beforeAll(async () => {
    for (const kind of ['day', 'outage', 'crowd', 'sandbox', 'long'] as const)
      running.set(kind, await serveConsole(0, picturedDeps(kind)));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    for (const one of running.values()) await one.close();
  });

  const openAll = async (tab: Page) => {
    for (const details of await tab.locator('main details:not([open]) > summary').all())
      if (await details.isVisible()) await details.click();
  };

  test.each(pages)(
    'with the data of "%s", no element of /%s is wider than its parent or overlaps another',
    async (kind, path) => {
      const tab = await openTab(browser, { timezoneId: 'Asia/Kolkata', reducedMotion: 'reduce' });
      await tab.clock.setFixedTime(at(100));
      await tab.goto(`${running.get(kind)?.url}${path}`);
      await tab.evaluate('document.fonts.ready');
      const faults: string[] = [];
      for (const width of widths) {
        await tab.setViewportSize({ width, height: 800 });
        await openAll(tab);
        for (const colorScheme of ['light', 'dark'] as const) {
          await tab.emulateMedia({ colorScheme });
          faults.push(...(await layoutFaults(tab)).map((fault) => `${width} ${colorScheme}: ${fault}`));
        }
      }
      await tab.close();
      expect(faults).toEqual([]);
    },
  );

  test('the check finds what is too wide, and what lies over something else', async () => {
    const tab = await openTab(browser, { viewport: { width: 360, height: 800 } });
    const faultsOf = async (body: string) => {
      await tab.setContent(`<style>* { margin: 0 }</style>${body}`);
      return layoutFaults(tab);
    };
    expect(await faultsOf('<p>short</p><p>also short</p>')).toEqual([]);
    expect(await faultsOf(`<p>${'long'.repeat(100)}</p>`)).toHaveLength(1);
    expect(await faultsOf('<div style="width: 100px"><p style="width: 120px">wide</p></div>')).toHaveLength(
      1,
    );
    expect(await faultsOf('<p>one</p><p style="margin-top: -10px">two</p>')).toHaveLength(1);
    expect(await faultsOf('<p style="width: 30px; overflow: hidden">overflowing</p>')).toHaveLength(1);
    const word = await faultsOf('<p style="width: 90px"><code>cosecha --stage prod</code></p>');
    expect(word).toEqual(['the word "--stage" of a command is broken']);
    await tab.close();
  });
});
