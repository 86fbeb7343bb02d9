import type { Extraction } from '../../../lib/extraction/record.ts';

/** The configuration of the measured handler, and the stub's answers to it. */
export const measuredTables = { extractions: 'Extractions', tasks: 'Tasks' } as const;

export const measuredKey = 'a-signing-key-of-ordinary-length-0123456789';

/** The record after the webhook's write. */
export const measuredExtraction: Extraction = {
  schemaVersion: 1,
  extractionId: '01a1fe07-9745-75b1-b891-0d0d5703db17',
  method: 'credentials',
  entity: 'sandbox-bank',
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  requestedBy: 'arn:aws:iam::123456789012:role/a-service-of-ours',
  requestedAt: '2026-01-01T12:00:00.000Z',
  requestId: 'JKJaXmPLvHcESHA=',
  deadlineAt: '2026-01-01T14:00:00.000Z',
  status: 'COMPLETED',
  fingerprint: 'f'.repeat(64),
  attemptId: '0190a0b0-0000-4000-8000-000000000001',
  startingAt: '2026-01-01T12:00:00.500Z',
  startedAt: '2026-01-01T12:00:01.000Z',
  taskId: 'ef44eb6e-cd7b-4d42-8792-b25dfc1495c6',
  settledAt: '2026-01-01T12:01:00.000Z',
  settledBy: 'webhook',
  isFinal: true,
  dueShard: 3,
  dueAt: '2026-01-01T12:06:00.000Z',
};
