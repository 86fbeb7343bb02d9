import { extractionsClient } from '@cosecha/cosecha/client';

// These credentials complete at the provider sandbox (docs/sandbox.md).
const cosecha = extractionsClient({ apiUrl: process.env.API_URL ?? '' });
const { extraction } = await cosecha.requestExtraction({
  entity: 'demo-bank',
  credentials: {
    mode: 'raw',
    value: { username: 'completed-both', businessId: '77777777-7', password: 'x' },
  },
  actions: [{ id: 'product-balance' }],
});
// `advice` is what to do next, such as `request-later` or `renew-consent` (docs/stream.md, "Advice").
const { extractionId, status, advice } = await cosecha.waitForOutcome(extraction.extractionId);
console.log(extractionId, status, advice);
