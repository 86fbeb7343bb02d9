import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxControl, sandboxControl } from '../../../../sandbox/control-client.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';
import { describeInChromium, launchChromium, openTab } from '../../../support/browser/chromium.ts';
import { callerOf } from '../caller.ts';

describeInChromium('the consent page, without JavaScript', () => {
  let sandbox: RunningSandbox;
  let control: SandboxControl;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    sandbox = await startSandbox();
    control = sandboxControl(sandbox.baseUrl);
    browser = await launchChromium();
    page = await openTab(browser, { javaScriptEnabled: false });
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.close();
  });

  /** Opens the page of a new consent. */
  const openPage = async (more: Readonly<Record<string, unknown>> = {}) => {
    const { otpToken, consentId } = await callerOf(sandbox).otp({ locale: 'en', ...more });
    const url = `${sandbox.baseUrl}/widget?otpToken=${otpToken}`;
    await page.goto(url);
    return { consentId, url };
  };

  /** The element that assistive technology sees with this role and name. */
  const element = (role: Parameters<Page['getByRole']>[0], name: string): Locator =>
    page.getByRole(role, { name, exact: true });

  test('a person chooses the entity and the products and authorizes the consent, once', async () => {
    const { consentId, url } = await openPage();
    expect(await page.title()).toBe('Authorize access to your data');
    expect(await element('group', 'Entity').isVisible()).toBe(true);
    expect(await element('radio', 'Demo Bank').isChecked()).toBe(true);
    await element('radio', 'Santander').check();
    expect(await element('checkbox', 'movement').isChecked()).toBe(false);
    await element('checkbox', 'movement').check();
    await element('button', 'Authorize').click();
    await element('heading', 'Consent authorized').waitFor();
    expect(await page.innerText('body')).toContain(consentId);
    expect(await control.consent(consentId)).toMatchObject({
      status: 'ACTIVE',
      products: ['movement'],
      entity: { id: 'santander', name: 'Santander', type: 'bank' },
    });
    await page.goto(url);
    await element('heading', 'This link cannot be used').waitFor();
  });

  test('a person discards the consent', async () => {
    const { consentId } = await openPage();
    await element('button', 'Discard').click();
    await element('heading', 'Consent discarded').waitFor();
    expect(await control.consent(consentId)).toMatchObject({ status: 'INACTIVE', subStatus: 'DISCARDED' });
  });

  test('a person who selects nothing sees a message, and can continue', async () => {
    const { consentId } = await openPage({ products: ['movement'] });
    await element('radio', 'Demo Exchange').check();
    await element('button', 'Authorize').click();
    await page.getByRole('alert').getByText('Choose at least one product.').waitFor();
    expect((await control.consent(consentId)).status).toBe('IN_PROGRESS');
    await element('checkbox', 'movement').check();
    await element('button', 'Authorize').click();
    await element('heading', 'Consent authorized').waitFor();
    expect(await control.consent(consentId)).toMatchObject({
      status: 'ACTIVE',
      entity: { id: 'demo-exchange' },
    });
  });

  test('only entities of the requested types are offered, and the page is in Spanish by default', async () => {
    const filters = { entities: { include: { types: ['afp', 'exchange'] } } };
    await openPage({ locale: undefined, filters });
    expect(await element('group', 'Entidad').isVisible()).toBe(true);
    expect(await element('radio', 'Demo AFP').isChecked()).toBe(true);
    expect(await element('radio', 'Demo Exchange').isVisible()).toBe(true);
    expect(await element('radio', 'Demo Bank').count()).toBe(0);
  });
});
