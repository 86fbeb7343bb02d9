import { extractionsClient } from '#lib/client/extractions-client.ts';
import type { ExtractionRequest } from '#lib/client/request-extraction.ts';
import { defined } from '#lib/defined.ts';
import type { TaskRequest } from '#lib/provider/tasks/start-task.ts';
import type { Plan } from '../../sandbox/plan-schemas.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';

/**
 * The benchmarks' request for an extraction by credentials. Its fields are in the record, so they affect the units of
 * writes. It has no reference, whose one more write the report of `npm run cost` names. The provider's plans are by `username`.
 */
const bodyByCredentials = (username: string): TaskRequest => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { businessId: '77777777-7', username, password: 'any-will-do' } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
});

type User = { readonly username: string; readonly byConsent?: boolean };

/** The request of a user for whom the sandbox then behaves as planned. By consent, the username is a national id. */
export const prepareRequest = async (
  provider: LocalSystem['provider'],
  { username, byConsent = false }: User,
  plan: Plan,
): Promise<ExtractionRequest> => {
  await provider.setPlan(username, plan);
  if (!byConsent) return bodyByCredentials(username);
  const product = 'movement';
  const { consentId } = await provider.createConsent({ owner: username, products: [product] });
  return { method: 'consent', product, consentId, target: username };
};

/** Requests an extraction as callers do, and returns its id. Throws where a retry would be needed, as it would be counted. */
export const request = async (
  { base, fetch }: LocalSystem['api'],
  body: ExtractionRequest,
  signal?: AbortSignal,
): Promise<string> => {
  const onRetry = (reason: string) => {
    throw new Error(reason);
  };
  const client = extractionsClient({ apiUrl: base, fetch });
  const { extraction } = await client.requestExtraction(body, { onRetry, ...defined({ signal }) });
  return extraction.extractionId;
};
