import { html } from 'hono/html';
import { entitiesFor } from '../consents/consent-state.ts';
import type { Product } from '../entities.ts';
import type { Consent } from '../state-types.ts';
import type { PageTexts } from './page-texts.ts';

type Html = ReturnType<typeof html>;

/** The selected fields of the form, and the problem with them. */
type Selection = {
  readonly entityId: string;
  readonly products: readonly Product[];
  readonly problem?: string;
};

/** The form of the consent page. It needs no JavaScript. `key` identifies the page in its answer. */
export const consentForm = (
  consent: Consent,
  texts: PageTexts,
  key: string,
  { entityId, products, problem }: Selection,
): Html =>
  page(
    texts,
    texts.title,
    html`<p>${texts.introduction}</p>
${problem === undefined ? '' : html`<p role="alert">${problem}</p>`}
<form method="post" action="/widget">
  <input type="hidden" name="key" value="${key}">
  <fieldset>
    <legend>${texts.entity}</legend>
    ${entitiesFor(consent.entityTypes).map(
      ({ id, name }) =>
        html`<label><input type="radio" name="entity" value="${id}" ${id === entityId ? 'checked' : ''}> ${name}</label>`,
    )}
  </fieldset>
  <fieldset>
    <legend>${texts.products}</legend>
    ${consent.products.map(
      (product) =>
        html`<label><input type="checkbox" name="product" value="${product}" ${products.includes(product) ? 'checked' : ''}> ${product}</label>`,
    )}
  </fieldset>
  <button name="decision" value="authorize">${texts.authorize}</button>
  <button name="decision" value="discard">${texts.discard}</button>
</form>`,
  );

export const decidedPage = (consent: Consent, texts: PageTexts, heading: string): Html =>
  page(texts, heading, html`<p>${texts.consent}: <code>${consent.consentId}</code></p><p>${texts.close}</p>`);

export const unusablePage = (texts: PageTexts): Html =>
  page(texts, texts.unusable, html`<p>${texts.unusableReason}</p>`);

const page = (texts: PageTexts, heading: string, content: Html): Html => html`<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 2rem auto; padding: 0 1rem; }
  fieldset { margin: 1rem 0; }
  label { display: block; padding: 0.25rem 0; }
  button { font: inherit; padding: 0.5rem 1.25rem; }
</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${content}
</main>
</body>
</html>`;
