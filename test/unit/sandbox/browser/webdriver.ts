import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserPaths } from './find-browser.ts';

/** The key of an element's id in W3C WebDriver, section "Elements". */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** `--no-sandbox`: Chromium's own sandbox refuses to run as root, as tests in containers do. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The driver could not do what it was told. */
class WebDriverError extends Error {
  override readonly name = 'WebDriverError';
}

export type Browser = Awaited<ReturnType<typeof openBrowser>>;

/** A headless Chromium with JavaScript off, driven by the W3C WebDriver protocol. */
export async function openBrowser({ browser, driver }: BrowserPaths) {
  const profile = mkdtempSync(join(tmpdir(), 'consent-page-'));
  const server = spawn(driver, ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const base = `http://127.0.0.1:${await portOf(server.stdout)}`;

  async function call<Value>(method: string, path: string, body?: object): Promise<Value> {
    const response = await fetch(`${base}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: Value & { error?: string; message?: string } };
    if (!response.ok) throw new WebDriverError(`${value.error}: ${value.message}`);
    return value;
  }

  const chrome = {
    binary: browser,
    args: [...FLAGS, `--user-data-dir=${profile}`],
    prefs: { 'profile.managed_default_content_settings.javascript': 2 },
  };
  const { sessionId } = await call<{ sessionId: string }>('POST', '/session', {
    capabilities: { alwaysMatch: { browserName: 'chrome', 'goog:chromeOptions': chrome } },
  }).catch(async (cause: unknown) => {
    await end();
    throw new Error('The browser did not start', { cause });
  });
  const session = `/session/${sessionId}`;

  async function firstOf(selector: string): Promise<string> {
    const body = { using: 'css selector', value: selector };
    const found = await call<Record<string, string>>('POST', `${session}/element`, body);
    return `${session}/element/${found[ELEMENT]}`;
  }

  /** Clicking a submit button returns before the next page is there, and the protocol tells no event of it. */
  async function pageLeft(root: string): Promise<void> {
    const deadline = AbortSignal.timeout(60_000);
    while (!deadline.aborted) {
      try {
        await call('GET', `${root}/name`);
      } catch (error) {
        // "stale element reference", or while the pages change an "unknown error" with the driver's own words.
        if (error instanceof WebDriverError) return;
        throw error;
      }
      await delay(20);
    }
    throw new Error('The page did not change');
  }

  /** The element that assistive technology sees with this role and name. */
  async function element(role: string, name: string): Promise<string> {
    const all = await call<Record<string, string>[]>('POST', `${session}/elements`, {
      using: 'css selector',
      value: 'h1, input, button, fieldset, [role]',
    });
    for (const found of all) {
      const path = `${session}/element/${found[ELEMENT]}`;
      const [itsRole, itsName] = [
        await call<string>('GET', `${path}/computedrole`),
        await call<string>('GET', `${path}/computedlabel`),
      ];
      if (itsRole === role && itsName === name) return path;
    }
    throw new Error(`The page has no ${role} named "${name}"`);
  }

  return {
    open: (url: string) => call<null>('POST', `${session}/url`, { url }),
    click: async (role: string, name: string) => call<null>('POST', `${await element(role, name)}/click`, {}),
    /** Clicks a button that leads to another page. */
    async press(name: string) {
      const root = await firstOf('html');
      await call<null>('POST', `${await element('button', name)}/click`, {});
      await pageLeft(root);
    },
    isSelected: async (role: string, name: string) =>
      call<boolean>('GET', `${await element(role, name)}/selected`),
    has: (role: string, name: string) => element(role, name).then(() => true),
    text: async () => call<string>('GET', `${await firstOf('body')}/text`),
    title: () => call<string>('GET', `${session}/title`),
    async close() {
      await call('DELETE', session);
      await end();
    },
  };

  async function end(): Promise<void> {
    const exited = once(server, 'exit');
    server.kill();
    await exited;
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function portOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const port = /started successfully on port (\d+)/.exec(line)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error('chromedriver ended before it was ready');
}
