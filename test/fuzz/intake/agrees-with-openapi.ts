import assert from 'node:assert/strict';
import { eventOf, requestPlan } from '../generators/request-event.ts';
import { fuzzProperty } from '../property.ts';
import { intakeWorld } from './intake-world.ts';
import { undocumentedIn, verdictOn } from './oracle.ts';

export const agreesWithOpenapi = fuzzProperty({
  name: 'intake/agrees-with-openapi',
  claim:
    'a request is accepted exactly if docs/openapi.yaml and docs/api.md accept it, and every answer is documented',
  weight: 15,
  expected: {
    accepted: 0.15,
    schema: 0.2,
    'not JSON': 0.05,
    key: 0.02,
    size: 0.005,
    'wrong check digit': 0.001,
    'number changes': 0.01,
  },
  cases: requestPlan,
  check: async (plan, see) => {
    const verdict = verdictOn(plan);
    const answer = await intakeWorld().request(eventOf(plan));
    see(verdict === 'accepted' ? verdict : verdict.why);
    assert.equal(answer.statusCode, verdict === 'accepted' ? 202 : verdict.status, answer.body);
    assert.deepEqual(undocumentedIn(answer), []);
    const { headers = {}, body = '' } = answer;
    if (verdict === 'accepted') {
      const { extractionId } = JSON.parse(body) as { extractionId: string };
      assert.equal(headers.location, `/extractions/${extractionId}`);
    }
    // Lambda and API Gateway pass on 6 MB at most.
    assert.ok(Buffer.byteLength(body) < 6_000_000, 'the answer is too large to be passed on');
  },
});
