import { expect, test } from 'vitest';
import { publicView } from '../../../../../lib/extraction/api/public-view.ts';
import { closedExtraction, consentId, consentIn, iso } from '../../../../support/data/extraction-fixtures.ts';

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
  ...{ unfinishedReads: { count: 1, lastBegunAt: iso(5) }, notBefore: iso(5), oversizedAt: iso(6) },
  readsSlowly: true,
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
  const shown = publicView(collected, { url: 'https://link', expiresAt: iso(300) });
  expect(shown.results).toEqual({ url: 'https://link', expiresAt: iso(300), bytes: 9, sha256: 'abc' });
  expect(JSON.stringify(shown)).not.toContain('secret/key.json');
  expect(JSON.stringify(publicView(collected))).not.toContain('secret/key.json');
});

test('an extraction by consent is shown with its product, consent and variant', () => {
  expect(publicView(consentIn('RUNNING', { variant: 'v2' }))).toEqual({
    extractionId: collected.extractionId,
    method: 'consent',
    product: 'movement',
    consentId,
    variant: 'v2',
    requestedBy: collected.requestedBy,
    requestedAt: iso(0),
    deadlineAt: iso(7_200),
    startedAt: iso(2),
    taskId: 'task-1',
    status: 'RUNNING',
  });
});
