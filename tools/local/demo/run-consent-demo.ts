import { ExtractionFailed } from '../expected-failure.ts';
import { type DemoContext, showExtraction, showResults } from './show-extraction.ts';

/** Test data with a valid check digit. */
const person = '11111111-1';

/** The extracted product, which is one of the two that the person authorizes. */
const product = 'movement';

type Session = { readonly otpToken: string; readonly consentId: string };

/**
 * Shows the method `consent`: opens a session, authorizes it as the person would in the widget, extracts one product,
 * revokes the consent, and shows that the next extraction is rejected.
 *
 * @throws ExtractionFailed if one of these steps has another result
 */
export const runConsentDemo = async (context: DemoContext): Promise<void> => {
  const { system, show } = context;
  const { consentId } = await post<Session>(context, '/consent-sessions', 201, {
    products: [product, 'product-balance'],
    locale: 'en',
  });
  show.done('session', `POST /consent-sessions → 201  consent ${consentId}`);
  await system.provider.authorizeConsent(consentId);
  show.done('consent', 'authorized, as the person would do in the widget');

  const request = { method: 'consent', product, consentId, target: person };
  await showResults(await showExtraction(context, { ...request, reference: 'by-consent' }), context);

  const revoked = await post<{ status: string; subStatus: string }>(
    context,
    `/consents/${consentId}/revoke`,
    200,
  );
  show.done('consent', `POST /consents/${consentId}/revoke → 200  ${revoked.status} ${revoked.subStatus}`);
  const { status } = await showExtraction(context, { ...request, reference: 'after-revoke' });
  if (status !== 'REJECTED') {
    throw new ExtractionFailed(`The extraction of a revoked consent ended ${status}, not REJECTED.`);
  }
  show.done('consent', 'the extraction after the revocation was REJECTED, as expected');
};

/** A POST to a route about consents, for the person. */
const post = async <Answer>(
  { system: { api }, signal }: DemoContext,
  path: string,
  expected: number,
  body?: unknown,
): Promise<Answer> => {
  const response = await api.fetch(`${api.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'cosecha-target': person },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
  if (response.status === expected) return (await response.json()) as Answer;
  const problem = await response.text();
  throw new ExtractionFailed(`The API answered ${response.status} to POST ${path}: ${problem.slice(0, 500)}`);
};
