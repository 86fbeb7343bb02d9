import assert from 'node:assert/strict';
import type { Violation } from '../../../lib/http/violation.ts';
import { eventOf, requestPlan } from '../generators/request-event.ts';
import { fuzzProperty } from '../property.ts';
import { intakeWorld } from './intake-world.ts';
import { jsonOf, notJson } from './oracle.ts';

const namesIn = (pointer: string): readonly string[] => {
  assert.ok(pointer === '' || pointer.startsWith('/'), `${pointer} is no JSON pointer`);
  const escapes = pointer.match(/~./g) ?? [];
  assert.ok(
    escapes.every((one) => one === '~0' || one === '~1'),
    `${pointer} is no JSON pointer`,
  );
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
};

const has = (value: unknown, name: string): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

/** RFC 6901: whether the pointer leads to something, to a member that its parent lacks, or nowhere. */
const resolve = (json: unknown, pointer: string): 'there' | 'missing' | 'nowhere' => {
  const names = namesIn(pointer);
  let value = json;
  for (const [index, name] of names.entries()) {
    if (!has(value, name)) {
      return index === names.length - 1 && typeof value === 'object' && value !== null
        ? 'missing'
        : 'nowhere';
    }
    value = value[name];
  }
  return 'there';
};

export const pointersResolve = fuzzProperty({
  name: 'intake/pointers-resolve',
  claim: 'every violation points at a member of the request, or at a required member that is missing',
  weight: 8,
  expected: { there: 0.1, missing: 0.02 },
  cases: requestPlan,
  check: async (plan, see) => {
    const { statusCode, body = '' } = await intakeWorld().request(eventOf(plan));
    const json = jsonOf(plan.body);
    if (statusCode !== 400 || json === notJson) return;
    const { errors } = JSON.parse(body) as { readonly errors?: readonly Violation[] };
    if (errors === undefined) return;
    assert.ok(errors.length > 0, 'refused without a violation');
    for (const { pointer, detail } of errors) {
      const found = resolve(json, pointer);
      see(found);
      assert.notEqual(found, 'nowhere', `${pointer} leads nowhere`);
      if (found === 'missing') assert.notEqual(detail, 'is not a known field', pointer);
      if (detail === 'is required') assert.equal(found, 'missing', pointer);
    }
  },
});
