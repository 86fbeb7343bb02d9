/** Only in the published client (docs/provider-client.md). */

import { ProviderAmbiguous } from '../transport/errors.ts';
import type { Connection } from '../transport/send-request.ts';
import type { Consent } from './get-consent.ts';
import { type ConsentQuery, listConsents } from './list-consents.ts';

/**
 * Iterates over every consent of the Task Token's user, page by page, while `hasNext` is true ("List consents"). It requests a page when
 * the page's first consent is needed. If a consent is given meanwhile, another one moves to the next page. So a repeated consent is left
 * out. Throws as `listConsents` does. Throws ProviderAmbiguous for a page with `hasNext` and no new consent, which would be an endless
 * loop.
 */
export async function* iterateConsents(
  connection: Connection,
  taskToken: string,
  query: Omit<ConsentQuery, 'page'> = {},
): AsyncGenerator<Consent, void, undefined> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { consents, hasNext } = await listConsents(connection, taskToken, { ...query, page });
    const fresh = consents.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    yield* fresh;
    if (!hasNext) return;
    if (fresh.length === 0) {
      throw new ProviderAmbiguous('The provider returned a page without a new consent, with hasNext.');
    }
  }
}
