/** @module-tag slow */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeViolationsOn } from '#support/browser/axe.ts';
import { describeInChromium, launchChromium, openTab } from '#support/browser/chromium.ts';
import { completedId, type Pictured, picturedDeps, waitingId } from '#support/browser/console-pictures.ts';
import { at } from '#support/data/extraction-fixtures.ts';
import { type RunningConsole, serveConsole } from '#tools/cli/console/serve-console.ts';

const folder = new URL('../../../../../docs/console/', import.meta.url);
const page = readFileSync(new URL('../../../../../docs/console.md', import.meta.url), 'utf8');

/** `npm run docs:pictures` writes docs/console. Otherwise each page is opened and checked, and its file is there. */
const writes = process.env.WRITE_PICTURES !== undefined;

/** What happens before some of the pictures are taken. */
const steps: Readonly<Record<string, (tab: Page, console: RunningConsole) => Promise<unknown>>> = {
  // By keyboard, as a focus that a mouse sets has no ring.
  focus: async (tab) => {
    for (const key of ['j', 'j', 'j', 'j', 'j', 'j']) await tab.keyboard.press(key);
  },
  form: async (tab) => {
    await tab.getByRole('link', { name: 'Reconcile now' }).click();
    await tab.getByRole('button', { name: 'Reconcile now' }).click();
    await tab.getByText('It is REQUESTED.').waitFor();
  },
  lost: async (tab, console) => {
    await console.close();
    await tab.getByText('The console does not answer.').waitFor();
  },
};

/** Name, path, width and colour scheme, and the height that is shown. */
const pictures = [
  ['extractions', '', 1_200, 'light', 900],
  ['extractions-phone', '', 400, 'light', 900],
  ['crowd', '', 1_440, 'light', 900],
  ['line', 'line', 1_200, 'dark', 900],
  ['outage', '?status=open', 1_440, 'dark', 560],
  ['completed', `extractions/${completedId}`, 1_200, 'light', 900],
  ['waiting', `extractions/${waitingId}`, 1_200, 'dark', 900],
  ['waiting-phone', `extractions/${waitingId}`, 400, 'dark', 900],
  ['deliveries', 'deliveries', 900, 'dark', 620],
  ['health', 'health', 1_200, 'dark', 900],
  ['health-phone', 'health', 400, 'light', 900],
  ['sandbox', 'sandbox', 1_200, 'light', 900],
  ['focus', '', 900, 'light', 500],
  ['form', `extractions/${waitingId}`, 400, 'dark', 640],
  ['lost', '', 900, 'light', 420],
] as const;

const kindOf = (name: string): Pictured => {
  if (/crowd|line/.test(name)) return 'crowd';
  if (name === 'sandbox') return name;
  return /outage|waiting|form/.test(name) ? 'outage' : 'day';
};

test('docs/console.md shows every picture, and the README one of them', () => {
  const shown = [...page.matchAll(/\]\(console\/([\w-]+)\.webp\)/g)].map(([, name]) => name);
  expect(shown.toSorted()).toEqual(pictures.map(([name]) => name).toSorted());
  const shapes = pictures.map(([, , width, colorScheme]) => `${width} ${colorScheme}`);
  const wanted = [400, 900, 1_200, 1_440].flatMap((width) => [`${width} light`, `${width} dark`]);
  expect([...new Set(shapes)].toSorted()).toEqual(wanted.toSorted());
  const readme = readFileSync(new URL('../../../../../README.md', import.meta.url), 'utf8');
  expect(readme.match(/docs\/console\/\w+\.webp/g)).toHaveLength(1);
});

describeInChromium('the pictures of the console', () => {
  const running = new Map<Pictured, RunningConsole>();
  let browser: Browser;
  beforeAll(async () => {
    for (const kind of ['day', 'outage', 'crowd', 'sandbox'] as const)
      running.set(kind, await serveConsole(0, picturedDeps(kind)));
    browser = await launchChromium();
    mkdirSync(folder, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    for (const one of running.values()) await one.close();
  });

  test.each(pictures)(
    '%s breaks no rule of axe, light or dark, fits its width, and its file is small',
    async (name, path, width, colorScheme, height) => {
      const viewport = { width, height };
      const tab = await openTab(browser, {
        viewport,
        colorScheme,
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      });
      // The script of the page counts ages by it.
      await tab.clock.setFixedTime(at(100));
      const own = name === 'lost' ? await serveConsole(0, picturedDeps('day')) : undefined;
      const console = own ?? running.get(kindOf(name));
      if (console === undefined) throw new Error('No console was started.');
      await tab.goto(`${console.url}${path}`);
      await tab
        .locator('#connection', { hasText: /live/ })
        .or(tab.getByText('not updated'))
        .first()
        .waitFor();
      await steps[name]?.(tab, console);
      const file = new URL(`${name}.webp`, folder);
      if (writes) writeFileSync(file, await tab.screenshot({ type: 'webp', animations: 'disabled' }));
      for (const scheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme: scheme });
        expect(await axeViolationsOn(tab)).toEqual([]);
      }
      expect(await tab.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await tab.close();
      // Fonts differ between machines, and with them the points of a picture.
      expect(statSync(file).size).toBeLessThan(150_000);
    },
  );
});
