import assert from 'node:assert/strict';
import fc from 'fast-check';
import { around, eventOf } from '../generators/api-event.ts';
import { type Json, textOf, validRequest } from '../generators/extraction-request.ts';
import { mutatedJson } from '../generators/mutated-json.ts';
import { fuzzProperty } from '../property.ts';
import { apiWorld } from './api-world.ts';

const sentinel = 'SENTINEL-7f3a';
const sentinelNumber = 918_273_645;

/** A value with sentinels in its texts and in place of its numbers; those of `kept` texts stay as they are. */
const marked = (value: Json, keep: (text: string) => boolean): Json => {
  if (typeof value === 'string') return keep(value) ? value : `${sentinel}${value}`;
  if (typeof value === 'number') return sentinelNumber;
  if (Array.isArray(value)) return value.map((item: Json) => marked(item, keep));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, marked(member, keep)]));
};

/** Words that a request needs to get past the first check; each is kept in about half of the cases. */
const words = /^(?:raw|encrypted|persisted|consent|credentials|movement|tef|product-balance|v1|v2|\d{4}-.*)$/;

type Fields = { readonly [name: string]: Json };
const isFields = (value: Json): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whose data it is; unless it is so short that a time has it too, or the caller wrote it into a field that is shown. */
const targetOf = ({ target, ...shown }: Fields): string | undefined =>
  typeof target === 'string' && target.length >= 8 && !JSON.stringify(shown).includes(target)
    ? target
    : undefined;

export const nothingEchoed = fuzzProperty({
  name: 'api/nothing-echoed',
  claim:
    'an answer contains no value of a refused request; credentials, tokens and targets of an accepted one are neither answered, recorded nor passed on',
  weight: 10,
  expected: { refused: 0.4, accepted: 0.05 },
  cases: fc.record({
    request: fc.oneof(
      { weight: 1, arbitrary: validRequest as fc.Arbitrary<Json> },
      { weight: 2, arbitrary: mutatedJson(validRequest) },
    ),
    keepWords: fc.boolean(),
    onlySecrets: fc.boolean(),
    around,
  }),
  check: async ({ request, keepWords, onlySecrets, around }, see) => {
    const mark = (value: Json): Json => marked(value, (text) => keepWords && words.test(text));
    const secrets = ['credentials', 'sessionToken'];
    const sent =
      onlySecrets && isFields(request)
        ? Object.fromEntries(
            Object.entries(request).map(([name, value]) => [
              name,
              secrets.includes(name) ? mark(value) : value,
            ]),
          )
        : mark(request);
    const world = apiWorld();
    const body = Buffer.from(textOf(sent));
    const answer = await world.request(eventOf({ ...around, body, idempotencyKey: undefined }));
    const answerText = JSON.stringify(answer);

    if (answer.statusCode !== 202) {
      see('refused');
      // Pointers contain names of fields, and no values.
      assert.ok(!answerText.includes(sentinel), `a text is answered: ${answer.body}`);
      assert.ok(!answerText.includes(String(sentinelNumber)), `a number is answered: ${answer.body}`);
      return;
    }
    see('accepted');
    if (!onlySecrets || !isFields(sent)) return;
    const kept = JSON.stringify([answerText, ...world.records.values(), ...world.started]);
    for (const secret of [sentinel, String(sentinelNumber), targetOf(sent)]) {
      assert.ok(
        secret === undefined || !kept.includes(secret),
        'a secret is answered, recorded or passed on',
      );
    }
  },
});
