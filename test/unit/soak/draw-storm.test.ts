import * as v from 'valibot';
import { expect, test } from 'vitest';
import { FaultSchema, PlanSchema } from '../../../sandbox/plan-schemas.ts';
import { drawStorm } from '../../soak/draw-storm.ts';

test('the seed decides everything that happens in a soak', () => {
  expect(drawStorm(7, 5)).toEqual(drawStorm(7, 5));
  expect(drawStorm(8, 5)).not.toEqual(drawStorm(7, 5));
});

test('five minutes have every kind of event, and only what the sandbox accepts', () => {
  const { requests, troubles, failures } = drawStorm(7, 5);
  for (const { plan } of requests) expect(v.is(PlanSchema, plan)).toBe(true);
  const faults = troubles.flatMap((one) => ('fault' in one ? [one.fault] : []));
  for (const fault of faults) expect(v.is(FaultSchema, fault)).toBe(true);
  expect(faults.length).toBeGreaterThan(0);
  expect(troubles.length).toBeGreaterThan(faults.length);
  expect(new Set(failures.map(({ rule }) => rule.effect.kind))).toEqual(new Set(['exit', 'answer']));
  expect(new Set(requests.map(({ byConsent, copies }) => `${byConsent} ${copies}`)).size).toBe(4);
});
