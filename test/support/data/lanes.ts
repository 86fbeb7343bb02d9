import type { LineLane } from '#lib/extraction/api/expected-start.ts';
import type { Place } from '#lib/rate-limit/start-line.ts';

/** When all of them wait since. */
export const now = new Date('2026-03-01T06:00:00.000Z');
export const roles = 'arn:aws:iam::111122223333:role/';

const lane = (caller: string, priority: Place['priority'], count: number): LineLane => ({
  caller: `${roles}${caller}`,
  priority,
  waiting: Array.from({ length: count }, (_, index) => ({
    caller: `${roles}${caller}`,
    priority,
    group: 'bank',
    at: now.toISOString(),
    extractionId: `${caller}-${priority}-${index}`,
  })),
});

/** Three lanes of two callers. */
export const lanes = [
  lane('orders', 'background', 100),
  lane('orders', 'interactive', 2),
  lane('app', 'interactive', 10),
];
