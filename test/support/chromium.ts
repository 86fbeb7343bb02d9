import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describeIfInstalled, findProgram } from './describe-if-installed.ts';

/** `--no-sandbox`: Chromium's own sandbox refuses to run as root, as tests in containers do. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome');

/** In milliseconds, for the start and for each step. Playwright's 30 s are too short for a busy machine. */
const patience = 300_000;

/** Starts the installed Chromium. Inside `describeInChromium` there is one. */
export const launchChromium = (): Promise<Browser> => {
  if (executablePath === undefined) throw new Error('Chromium is not installed');
  return chromium.launch({ executablePath, args, timeout: patience });
};

export const openTab = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Page> => {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(patience);
  return page;
};

/** Tests in a real browser. Without an installed Chromium they are skipped, but in CI they fail. */
export const describeInChromium = (title: string, tests: () => void): void =>
  describeIfInstalled(
    executablePath !== undefined,
    {
      title: `${title}, in a browser`,
      howToInstall: `${title} is tested in a real browser: install Chromium, e.g. apt-get install -y chromium`,
    },
    tests,
  );
