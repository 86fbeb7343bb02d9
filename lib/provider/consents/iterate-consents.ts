import { ProviderAmbiguous } from '../transport/errors.ts';
import type { Connection } from '../transport/send-request.ts';
import type { Consent } from './consent.ts';
import { type ConsentQuery, listConsents } from './list-consents.ts';

/**
 * Every consent of the Task Token's user, page after page while `hasNext` says so ("List consents"). A page is
 * asked for when its first consent is. Throws as listConsents does, and ProviderAmbiguous for an empty page
 * that says there are more: following those would never end.
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
      throw new ProviderAmbiguous('The provider says that more consents follow an empty page.');
    }
  }
}
