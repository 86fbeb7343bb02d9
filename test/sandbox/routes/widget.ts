import { Hono } from 'hono';
import { authorizeConsent, entitiesFor, setSubStatus } from '../consents/consent-state.ts';
import type { Consent, Sandbox } from '../state-types.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { consentForm, decidedPage, unusablePage } from '../widget/consent-page.ts';
import { openableConsent, openConsent, openPage } from '../widget/open-page.ts';
import { pageTexts } from '../widget/page-texts.ts';

/** The consent page: a simple form of the provider's widget for end users. */
export const widgetRoutes = (sandbox: Sandbox): Hono<SandboxEnv> => {
  const app = new Hono<SandboxEnv>();

  app.use('/widget', async (c, next) => {
    await next();
    c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'");
    // The URL contains the OTP token.
    c.header('referrer-policy', 'no-referrer');
    c.header('cache-control', 'no-store');
  });

  // Opening the page uses the one-use token. The form has a key of its own.
  app.get('/widget', (c) => {
    const token = c.req.query('otpToken') ?? '';
    const consent = openableConsent(sandbox, token);
    if (consent === undefined) return unusable(c, consentOfToken(sandbox, token));
    // Hono routes HEAD here too. HEAD is a safe method (RFC 9110), so that a link checker does not use the token.
    if (c.req.method === 'HEAD') return c.html('');
    const key = openPage(sandbox, token, consent);
    noteConsent(c, consent);
    const texts = pageTexts(consent.locale);
    // No product is preselected: the person chooses.
    return c.html(consentForm(consent, texts, key, { entityId: consent.entity.id, products: [] }));
  });

  app.post('/widget', (c) => {
    const form = new URLSearchParams(c.get('body'));
    const key = form.get('key') ?? '';
    const consent = openConsent(sandbox, key);
    if (consent === undefined) return unusable(c, sandbox.openPages.get(key));
    noteConsent(c, consent);
    const texts = pageTexts(consent.locale);
    if (form.get('decision') === 'discard') {
      setSubStatus(consent, 'DISCARDED', sandbox.clock.now());
      return c.html(decidedPage(consent, texts, texts.discarded));
    }
    const products = consent.products.filter((product) => form.getAll('product').includes(product));
    const entityId = form.get('entity') ?? '';
    const entity = entitiesFor(consent.entityTypes).find(({ id }) => id === entityId);
    if (entity === undefined || products.length === 0) {
      const problem = texts.chooseProduct;
      return c.html(consentForm(consent, texts, key, { entityId, products, problem }), 400);
    }
    authorizeConsent(sandbox, consent, entity, products);
    return c.html(decidedPage(consent, texts, texts.authorized));
  });

  return app;
};

const noteConsent = (c: SandboxContext, { consentId, owner }: Consent): void => {
  const call = c.get('call');
  call.consentId = consentId;
  call.username = owner;
};

const consentOfToken = (sandbox: Sandbox, token: string): Consent | undefined =>
  sandbox.consents.get(sandbox.otpTokens.get(token)?.consentId ?? '');

/** In the language of the consent, or of the browser for an unknown link. */
const unusable = (c: SandboxContext, consent: Consent | undefined) => {
  const locale = consent?.locale ?? c.req.header('accept-language') ?? '';
  return c.html(unusablePage(pageTexts(locale)), 410);
};
