import { expect, test } from 'vitest';
import { publicView } from '#lib/extraction/api/public-view.ts';
import { closedExtraction, iso } from '../../../../support/data/extraction-fixtures.ts';

const collected = closedExtraction({
  status: 'PARTIAL',
  attemptId: 'attempt-1',
  startingAt: iso(1),
  startedAt: iso(2),
  taskId: 'task-1',
  settledBy: 'webhook',
  collectedAt: iso(31),
  actionResults: [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }],
  results: { bucket: 'bucket', key: 'secret/key.json', bytes: 9, sha256: 'abc' },
  lastReadBegunAt: iso(5),
  notBefore: iso(5),
  oversizedAt: iso(6),
  readsSlowly: true,
  withoutWebhook: true,
});

test('request and outcome are shown, and internal attributes are not', () => {
  expect(publicView(collected)).toEqual({
    extractionId: collected.extractionId,
    method: 'credentials',
    entity: 'bank',
    actions: collected.actions,
    requestedBy: collected.requestedBy,
    requestedAt: iso(0),
    deadlineAt: iso(7_200),
    startedAt: iso(2),
    taskId: 'task-1',
    status: 'PARTIAL',
    settledAt: iso(30),
    settledBy: 'webhook',
    collectedAt: iso(31),
    actionResults: [{ id: 'tef', status: 'FAILED', errorCode: 'ACTION_ERROR' }],
  });
});

test('results are shown with their link, and never with bucket and key', () => {
  const link = { url: 'https://link', expiresAt: iso(300) };
  expect(publicView(collected, link)).toEqual({
    ...publicView(collected),
    results: { ...link, bytes: 9, sha256: 'abc' },
  });
});
