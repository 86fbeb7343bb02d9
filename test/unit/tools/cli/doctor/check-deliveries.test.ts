import { expect, test } from 'vitest';
import { at, iso } from '#support/data/extraction-fixtures.ts';
import { checkDeliveries } from '#tools/cli/doctor/check-deliveries.ts';

/** The newest first, as they are read. */
const seen = (...deliveries: readonly [seconds: number, verifiedBy?: string][]) =>
  deliveries.map(([seconds, verifiedBy]) => ({ at: iso(seconds), verifiedBy }));
const check = (items: ReturnType<typeof seen>, missed?: number, complete = true) =>
  checkDeliveries({ deliveries: { items, complete }, missed }, at(100));

test.each([
  ['none was refused', seen([90, 'k']), 3, 'passed', 'none of the last hour was refused'],
  [
    'others were verified since',
    seen([95, 'k'], [90], [80]),
    0,
    'passed',
    '2 of the last hour refused, the last 10 s ago, as no key fits; warning:',
  ],
  [
    'others were verified since, and whether some are missed is not known',
    seen([95, 'k'], [90]),
    undefined,
    'passed',
    'warning:',
  ],
  ['webhooks were missed', seen([95, 'k'], [90]), 2, 'failed', '2 webhooks did not come in this hour'],
  ['none was verified since', seen([90], [80, 'k']), 0, 'failed', 'none was verified since'],
])('deliveries of which %s', (_what, items, missed, result, message) => {
  expect(check(items, missed)).toMatchObject({ result, message: expect.stringContaining(message) });
});

test('a log that was read in part has at least so many', () => {
  expect(check(seen([90]), 0, false).message).toContain('at least 1 of the last hour');
});
