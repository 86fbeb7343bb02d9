import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { findBrowser, HOW_TO_INSTALL } from './browser/find-browser.ts';
import { type Browser, openBrowser } from './browser/webdriver.ts';
import { consentCallerOf } from './consent-caller.ts';

const paths = findBrowser();

if (paths === undefined && process.env.CI === 'true') {
  test('the consent page works in a real browser', () => {
    throw new Error(HOW_TO_INSTALL);
  });
}

const title = 'in a browser without JavaScript';
describe.skipIf(paths === undefined)(paths === undefined ? `${title}. ${HOW_TO_INSTALL}` : title, () => {
  let sandbox: RunningSandbox;
  let control: SandboxControl;
  let browser: Browser;
  beforeAll(async () => {
    if (paths === undefined) return;
    sandbox = await startSandbox();
    control = sandboxControl(sandbox.baseUrl);
    browser = await openBrowser(paths);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await sandbox?.close();
  });

  /** Opens the page of a new consent. */
  const openPage = async (more: Readonly<Record<string, unknown>> = {}) => {
    const { otpToken, consentId } = await consentCallerOf(sandbox).otp({ locale: 'en', ...more });
    const url = `${sandbox.baseUrl}/widget?otpToken=${otpToken}`;
    await browser.open(url);
    return { consentId, url };
  };

  test('a person chooses the entity and the products and authorizes the consent, once', async () => {
    const { consentId, url } = await openPage();
    expect(await browser.title()).toBe('Authorize access to your data');
    expect(await browser.has('group', 'Entity')).toBe(true);
    expect(await browser.isSelected('radio', 'Demo Bank')).toBe(true);
    await browser.click('radio', 'Santander');
    expect(await browser.isSelected('checkbox', 'movement')).toBe(false);
    await browser.click('checkbox', 'movement');
    await browser.press('Authorize');
    expect(await browser.has('heading', 'Consent authorized')).toBe(true);
    expect(await browser.text()).toContain(consentId);
    expect(await control.consent(consentId)).toMatchObject({
      status: 'ACTIVE',
      products: ['movement'],
      entity: { id: 'santander', name: 'Santander', type: 'bank' },
    });
    await browser.open(url);
    expect(await browser.has('heading', 'This link cannot be used')).toBe(true);
  });

  test('a person discards the consent', async () => {
    const { consentId } = await openPage();
    await browser.press('Discard');
    expect(await browser.has('heading', 'Consent discarded')).toBe(true);
    expect(await control.consent(consentId)).toMatchObject({ status: 'INACTIVE', subStatus: 'DISCARDED' });
  });

  test('a person who ticked nothing is told so, and goes on', async () => {
    const { consentId } = await openPage({ products: ['movement'] });
    await browser.click('radio', 'Demo Exchange');
    await browser.press('Authorize');
    expect(await browser.text()).toContain('Choose at least one product.');
    expect((await control.consent(consentId)).status).toBe('IN_PROGRESS');
    await browser.click('checkbox', 'movement');
    await browser.press('Authorize');
    expect(await control.consent(consentId)).toMatchObject({
      status: 'ACTIVE',
      entity: { id: 'demo-exchange' },
    });
  });

  test('only entities of the asked types are offered, and the page speaks Spanish unless it is told', async () => {
    const filters = { entities: { include: { types: ['afp', 'exchange'] } } };
    await openPage({ locale: undefined, filters });
    expect(await browser.has('group', 'Entidad')).toBe(true);
    expect(await browser.isSelected('radio', 'Demo AFP')).toBe(true);
    expect(await browser.has('radio', 'Demo Exchange')).toBe(true);
    await expect(browser.has('radio', 'Demo Bank')).rejects.toThrow('no radio named "Demo Bank"');
  });
});
