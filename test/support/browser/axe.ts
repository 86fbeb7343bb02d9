import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe that a page breaks, with the elements. */
export const axeViolationsOn = async (page: Page) => {
  // Not as a script element: the content security policy would refuse it.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: loaded } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await loaded.run()).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  });
};
