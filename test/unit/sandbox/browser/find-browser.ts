import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface BrowserPaths {
  readonly browser: string;
  readonly driver: string;
}

export const HOW_TO_INSTALL =
  'The consent page is tested in a real browser: install Chromium and its driver, e.g. apt-get install -y chromium chromium-driver';

/** A Chromium and its WebDriver server on the PATH, or undefined where either is missing. */
export function findBrowser(path: string = process.env.PATH ?? ''): BrowserPaths | undefined {
  const found = (...names: string[]) =>
    names
      .flatMap((name) => path.split(delimiter).map((folder) => join(folder, name)))
      .find((file) => isExecutable(file));
  const browser = found('chromium', 'chromium-browser', 'google-chrome');
  const driver = found('chromedriver');
  return browser === undefined || driver === undefined ? undefined : { browser, driver };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
