import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core';
import { installOnce } from '../../../tools/local/install-once.ts';
import { workDirectory } from '../../../tools/local/paths.ts';
import { describeIfInstalled, findProgram } from '../programs/describe-if-installed.ts';

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

const installed = findProgram('chromium', 'chromium-browser', 'google-chrome');

const require = createRequire(import.meta.url);
const packageName = '@sparticuz/chromium';

/** The optional package with a Chromium, which has no program for other platforms. */
const isPackaged = (): boolean => {
  try {
    return process.platform === 'linux' && process.arch === 'x64' && require.resolve(packageName) !== '';
  } catch {
    return false;
  }
};

/** Unpacks the Chromium of the package, with the libraries and the fonts that a machine may not have. */
const unpack = async (directory: string): Promise<void> => {
  await mkdir(directory);
  const script = `import('${packageName}').then((chromium) => chromium.default.executablePath())`;
  // It unpacks into the temporary directory, and the libraries only where it finds itself on Lambda.
  const env = { ...process.env, TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
  await promisify(execFile)(process.execPath, ['--eval', script], { env, cwd: import.meta.dirname });
  // The package's own file has paths of Lambda.
  const fonts = '<dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir>';
  await writeFile(join(directory, 'fonts', 'fonts.conf'), `<fontconfig>${fonts}</fontconfig>`);
};

const findBrowser = async (): Promise<LaunchOptions> => {
  if (installed !== undefined) return { executablePath: installed };
  const { optionalDependencies } = require('../../../package.json');
  const name = `chromium-${optionalDependencies[packageName]}`;
  const directory = await installOnce(join(workDirectory, name), unpack);
  return {
    executablePath: join(directory, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(directory, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(directory, 'fonts', 'fonts.conf'),
    },
  };
};

/** In milliseconds, for the start and for each step. Playwright's 30 s are too short for a busy machine. */
const patience = 300_000;

/** Starts the installed Chromium or, without one, that of the package. Inside `describeInChromium` there is one. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.launch({ ...(await findBrowser()), args, timeout: patience });

export const openTab = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Page> => {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(patience);
  return page;
};

/** Tests in a real browser. Without one they are skipped, but in CI they fail. */
export const describeInChromium = (title: string, tests: () => void): void =>
  describeIfInstalled(
    installed !== undefined || isPackaged(),
    {
      title: `${title}, in a browser`,
      howToInstall:
        'the tests in a browser need Chromium, e.g. apt-get install -y chromium, or on Linux x64 the optional dependencies',
    },
    tests,
  );
