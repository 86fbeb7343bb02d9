import { expect, test } from 'vitest';
import { requireResults } from '../../../../../tools/cli/aws/require-results.ts';
import { CliError } from '../../../../../tools/cli/terminal/errors.ts';
import { closedExtraction, extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';

test.each([
  [extractionIn('RUNNING'), `${id} is RUNNING and still open. Its results are not collected yet.`],
  [closedExtraction({ status: 'NOT_STARTED' }), `${id} is closed as NOT_STARTED, without results.`],
  [
    closedExtraction({ status: 'FAILED', collectedAt: iso(1) }),
    `${id} is closed as FAILED, without results.`,
  ],
  [
    closedExtraction({ status: 'PARTIAL', collectionError: 'no-results' }),
    `${id} is closed as PARTIAL. Its results were not collected: no-results.`,
  ],
])('an extraction without stored results is reported with the reason', (record, message) => {
  expect(() => requireResults(record)).toThrow(new CliError(message));
});

test('stored results are returned', () => {
  const results = { bucket: 'b', key: 'k', bytes: 1, sha256: 's' };
  expect(requireResults(closedExtraction({ status: 'COMPLETED', results }))).toEqual(results);
});
