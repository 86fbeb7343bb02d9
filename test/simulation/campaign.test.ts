/** @module-tag slow */

import { availableParallelism } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { ownOutcomes, terminalStatuses } from '#lib/extraction/record.ts';
import { runCampaign } from './campaign/run-campaign.ts';
import { showFinding } from './campaign/show-finding.ts';
import type { Tally } from './campaign/tally.ts';
import { invariants } from './invariants/all.ts';
import { documentedTransitions } from './invariants/transitions-and-outcomes.ts';
import { fate, fateNames } from './world/call.ts';

let tally: Tally;

// Nothing here depends on time: the same schedules are run on every machine.
beforeAll(async () => {
  const share = {
    seed: 1,
    isBounded: true,
    pairsOf: ['callers-token'],
    pairsMs: Number.POSITIVE_INFINITY,
    seeds: 6_000,
    seedsMs: Number.POSITIVE_INFINITY,
  };
  tally = await runCampaign(availableParallelism(), share, () => undefined);
}, 900_000);

test('every invariant holds in every schedule', async () => {
  const [finding] = tally.findings;
  expect(finding === undefined ? '' : await showFinding(finding)).toBe('');
});

test('every schedule with one departure was run, those with two of the shortest scenario, and 6,000 seeds', () => {
  expect(tally.schedules).toBeGreaterThan(40_000);
});

test('every outcome was reached', () => {
  const outcomes = [...terminalStatuses, ...ownOutcomes];
  expect(Object.keys(tally.outcomes)).toEqual(expect.arrayContaining(outcomes));
});

test('every transition of the table was made', () => {
  expect(Object.keys(tally.transitions)).toEqual(expect.arrayContaining([...documentedTransitions]));
});

test('every fate of a call occurred', () => {
  const fates = Object.values(fate).flatMap((of) => (of === fate.done ? [] : [fateNames[of]]));
  expect(Object.keys(tally.departures)).toEqual(expect.arrayContaining(fates));
});

test.each([
  'an operator stops the execution',
  'an operator redrives the execution',
  'an operator reconciles the record',
  'the caller repeats the request',
  'another caller sends a request under the same key',
  'the record is lost, and the caller repeats the request',
  'an operator erases the record, and the caller repeats the request',
  'start-task runs for an erased or lost record',
  'an additional sweep runs',
  'the rule is late',
  'function timeout',
  'start call: over quota',
  'get consent: ended',
  'start call: 503, accepted',
  'start call: no answer, accepted',
  'start call: 500 with errorType, accepted',
  'delivery 1: lost',
  'delivery 1: twice',
  'delivery 1: answer lost',
  'event of the broken execution: lost',
  'invokes start-task: the Lambda service fails after',
  'message (webhook): lost',
  'message (webhook): twice',
  'message (due): lost',
  'message (due): twice',
  'message (due): late',
  'message (due): again later',
  'send a batch: refused',
  'a dead letter',
])('this occurred: %s', (what) => {
  expect(tally.departures[what]).toBeGreaterThan(5);
});

/**
 * A task is adopted if its start ended between two writes, and then its credentials go only if nothing else failed. A consent is read only
 * after a refusal with a status alone.
 */
const rarest: readonly string[] = ['adopted-request-forgotten', 'consent-is-the-reason'];

test.each(invariants.map(({ name }) => name))('the premise of %s occurred', (name) => {
  expect(tally.premises[name]).toBeGreaterThan(rarest.includes(name) ? 5 : 50);
});
