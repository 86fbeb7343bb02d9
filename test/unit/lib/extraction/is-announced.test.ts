import { expect, test } from 'vitest';
import { isAnnounced } from '../../../../lib/extraction/is-announced.ts';
import { consentExtraction, extraction } from './fixtures.ts';

test('a webhook tells of the end of a v2 task, and of nothing that is done by consent', () => {
  expect(isAnnounced(extraction())).toBe(true);
  expect(isAnnounced(consentExtraction({ variant: 'v1' }))).toBe(false);
  expect(isAnnounced(consentExtraction({ variant: 'v2' }))).toBe(false);
});
