import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { ciphertextSeconds } from '#lib/ciphertext-seconds.ts';
import { slotOf } from '#lib/rate-limit/start-line.ts';
import { readConfig } from '../../../infra/settings/config.ts';
import { prices } from '../../../tools/acceptance/checks/prices.ts';
import { type Item, itemBytes } from '../../bench/units/item-bytes.ts';
import { required } from '../infra/synth.ts';
import { read } from './metric-names.ts';

const { maxWaitSeconds, startWindowSeconds, lineAlarmStarts } = readConfig(required);
const count = (number: number): string => Math.round(number).toLocaleString('en');
const clock = (seconds: number): string =>
  new Date(6 * 3_600_000 + seconds * 1_000).toISOString().slice(11, 16);
const dollars = (units: number, price: 'writeUnit' | 'transition'): string =>
  `$${((units * prices[price].perMillion) / 1e6).toFixed(2)}`;

test('docs/rates.md has what 500,000 at six in the morning take, at 50 a second', () => {
  const [, table = ''] = read('docs/rates.md').split('## Arithmetic: 500,000 at six in the morning');
  const [all, rate, started] = [500_000, 50, 300];
  const intake = all / started;
  const fresh = rate * ciphertextSeconds;
  for (const figure of [
    `= ${count(intake)} s: ${clock(intake)}. In regions with 150 a second, ${clock(all / 150)}`,
    `= ${count(all / rate)} s: ${clock(all / rate)}`,
    `= ${count(all - intake * rate)}, which`,
    `from ${count(lineAlarmStarts)} on`,
    `${count(2 * all)} × $0.000025 = ${dollars(2 * all, 'transition')}`,
    `${count(15 * all)} × $0.000000625 = ${dollars(15 * all, 'writeUnit')}`,
    `longer than ${startWindowSeconds / 60} minutes`,
    `= ${count(6 * all)} at most: ${dollars(6 * all, 'writeUnit')}`,
    `= ${count(fresh)} are started within ${ciphertextSeconds / 60} minutes. The other ${count(all - fresh)} end`,
    `= ${count(maxWaitSeconds * rate)} requests can wait`,
  ])
    expect(table).toContain(figure);
});

/**
 * With names as long as they usually are. A callback token of Step Functions has some 600 characters; the API allows 2,048
 * (https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html).
 */
const entry = (tokenLength: number) => {
  const extractionId = '00000000-0000-4000-8000-000000000000';
  const place = {
    caller: 'arn:aws:sts::111122223333:assumed-role/orders',
    priority: 'background',
    group: 'demo-bank',
    at: '2026-01-01T06:00:00.000Z',
    extractionId,
  } as const;
  const callbackToken = 'x'.repeat(tokenLength);
  const item = { extractionId, requestId: extractionId, line: 'line', slot: slotOf(place), callbackToken };
  return marshall(item) as unknown as Item;
};

test('docs/performance.md has what the line and its count can take', () => {
  const page = read('docs/performance.md');
  const [, bytes = ''] = /from entries of 1,024 bytes on \(today (\d+)\)/.exec(page) ?? [];
  // One write unit is 1 KB. The token that such an entry has room for.
  const others = itemBytes(entry(0));
  expect(Number(bytes)).toBeLessThan(1_024);
  expect(itemBytes(entry(Number(bytes) - others))).toBe(Number(bytes));
  expect(Number(bytes) - others).toBeGreaterThan(600);
  const perPartition = 1_000;
  const leave = 50;
  expect(page).toContain(
    `${perPartition - leave} requests a second enter beside ${leave} that leave, or ${perPartition / 2 - leave} above`,
  );
  // 10,000 of them, in pages of 1 MB, at half a unit for each 4 KB.
  const units = Math.ceil((10_000 * Number(bytes)) / 4_096 / 2);
  expect(page).toContain(
    `10,000 entries are counted | ${Math.ceil((10_000 * Number(bytes)) / 1_048_576)} pages of 1 MB, ${count(units)} read units`,
  );
});
