import { Hono } from 'hono';
import { authorizeConsent } from '../consents/authorize-consent.ts';
import { entitiesFor } from '../consents/entities-for.ts';
import { setSubStatus } from '../consents/set-sub-status.ts';
import type { Consent, Sandbox } from '../state.ts';
import type { SandboxContext, SandboxEnv } from '../transport/wire.ts';
import { openConsent, openPage } from '../widget/open-page.ts';
import { consentForm, decidedPage, unusablePage } from '../widget/page.ts';
import { pageTexts } from '../widget/page-texts.ts';

/** The consent page: what the provider's widget does for the end user, kept plain. */
export function widgetRoutes(sandbox: Sandbox): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();

  app.use('/widget', async (c, next) => {
    await next();
    c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'");
    // The address holds the OTP token.
    c.header('referrer-policy', 'no-referrer');
    c.header('cache-control', 'no-store');
  });

  // Opening the page uses the token: it is one-use, and what follows is the page's own.
  app.get('/widget', (c) => {
    const opened = openPage(sandbox, c.req.query('otpToken') ?? '');
    if (opened === undefined) return unusable(c);
    const { consent, key } = opened;
    noteConsent(c, consent);
    const texts = pageTexts(consent.locale);
    // No product is ticked beforehand: to authorize one is a person's own act.
    return c.html(consentForm(consent, texts, key, { entityId: consent.entity.id, products: [] }));
  });

  app.post('/widget', (c) => {
    const form = new URLSearchParams(c.get('body'));
    const key = form.get('key') ?? '';
    const consent = openConsent(sandbox, key);
    if (consent === undefined) return unusable(c);
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
}

function noteConsent(c: SandboxContext, { consentId, owner }: Consent): void {
  const call = c.get('call');
  call.consentId = consentId;
  call.username = owner;
}

/** Whose link it was is not known here, so the browser says which language. */
function unusable(c: SandboxContext) {
  return c.html(unusablePage(pageTexts(c.req.header('accept-language') ?? '')), 410);
}
