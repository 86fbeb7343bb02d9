/**
 * The benchmarks' request for an extraction by credentials. Its fields are in the record, so they affect the units of
 * writes. It has no reference, whose one more write the report of `npm run cost` names. The provider's plans are by `username`.
 */
export const bodyByCredentials = (username: string) => ({
  entity: 'sandbox-bank',
  credentials: { mode: 'raw', value: { businessId: '77777777-7', username, password: 'any-will-do' } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
});
