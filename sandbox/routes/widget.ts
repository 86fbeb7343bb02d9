import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { authorizeConsent, consentStateAt, entitiesFor, setSubStatus } from '../consents/consent-state.ts';
import type { Consent, Sandbox } from '../state-types.ts';
import type { SandboxContext, SandboxEnv } from '../transport/hono-types.ts';
import { consentForm, decidedPage, unusablePage } from '../widget/consent-page.ts';
import { pageTexts } from '../widget/page-texts.ts';

/** The consent page: a simple form of the provider's widget for end users. */
export const addWidgetRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  const { clock, consents, openPages, tokens } = sandbox;
  const isUndecided = (consent: Consent): boolean =>
    consentStateAt(consent, clock.now()).status === 'IN_PROGRESS';

  app.use('/widget', async (c, next) => {
    await next();
    c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'");
    // The URL contains the OTP token. With `no-referrer`, a browser would send the form with `Origin: null`.
    c.header('referrer-policy', 'same-origin');
    c.header('cache-control', 'no-store');
  });

  // Opening the page uses the one-use token. The form has a key of its own.
  app.get('/widget', (c) => {
    const token = tokens.get(c.req.query('otpToken') ?? '');
    if (token?.kind !== 'otp') return unusable(c);
    const consent = consents.get(token.consentId);
    if (consent === undefined || token.used || clock.now() >= token.expiresAt || !isUndecided(consent)) {
      return unusable(c, consent);
    }
    // Hono routes HEAD here too. HEAD is a safe method (RFC 9110), so that a link checker does not use the token.
    if (c.req.method === 'HEAD') return c.html('');
    token.used = true;
    const key = randomBytes(16).toString('hex');
    openPages.set(key, consent);
    noteConsent(c, consent);
    const texts = pageTexts(consent.locale);
    // No product is preselected: the person chooses.
    return c.html(consentForm(consent, texts, key, { entityId: consent.entity.id, products: [] }));
  });

  app.post('/widget', (c) => {
    const form = new URLSearchParams(c.get('body'));
    const key = form.get('key') ?? '';
    const consent = openPages.get(key);
    if (consent === undefined || !isUndecided(consent)) return unusable(c, consent);
    noteConsent(c, consent);
    const texts = pageTexts(consent.locale);
    if (form.get('decision') === 'discard') {
      setSubStatus(consent, 'DISCARDED', clock.now());
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
};

const noteConsent = (c: SandboxContext, { consentId, owner }: Consent): void => {
  Object.assign(c.get('call'), { consentId, username: owner });
};

/** In the language of the consent, or of the browser for an unknown link. */
const unusable = (c: SandboxContext, consent?: Consent) => {
  const locale = consent?.locale ?? c.req.header('accept-language') ?? '';
  return c.html(unusablePage(pageTexts(locale)), 410);
};
