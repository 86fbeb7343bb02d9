import { randomUUID } from 'node:crypto';

/**
 * An extraction by credentials as the benchmarks ask for one: what it says is in its record, and so in what a write of
 * it costs. The provider's plans go by `username`.
 */
export const bodyByCredentials = (username: string) => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { businessId: '77777777-7', username, password: 'any-will-do' } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  reference: randomUUID(),
});
