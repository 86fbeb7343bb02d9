/** Of the published client (docs/provider-client.md). No function imports it. */

import { ProviderAmbiguous } from '../transport/errors.ts';
import type { Connection } from '../transport/send-request.ts';
import type { Consent } from './get-consent.ts';
import { type ConsentQuery, listConsents } from './list-consents.ts';

/**
 * Iterates over every consent of the Task Token's user, page by page, while `hasNext` is true ("List consents"). A page
 * is requested when its first consent is needed. Throws as `listConsents` does. Throws ProviderAmbiguous for an empty
 * page with `hasNext`, which would be an endless loop.
 */
export async function* iterateConsents(
  connection: Connection,
  taskToken: string,
  query: Omit<ConsentQuery, 'page'> = {},
): AsyncGenerator<Consent, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { consents, hasNext } = await listConsents(connection, taskToken, { ...query, page });
    yield* consents;
    if (!hasNext) return;
    if (consents.length === 0) {
      throw new ProviderAmbiguous('The provider returned an empty page of consents with hasNext.');
    }
  }
}
