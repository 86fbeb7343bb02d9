import { extractionsClient } from '#lib/client/extractions-client.ts';
import type { ExtractionRequest } from '#lib/client/request-extraction.ts';
import { defined } from '#lib/defined.ts';
import type { TaskRequest } from '#lib/provider/tasks/start-task.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';

/**
 * The benchmarks' request for an extraction by credentials. Its fields are in the record, so they affect the units of
 * writes. It has no reference, whose one more write the report of `npm run cost` names. The provider's plans are by `username`.
 */
export const bodyByCredentials = (username: string): TaskRequest => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { businessId: '77777777-7', username, password: 'any-will-do' } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
});

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
