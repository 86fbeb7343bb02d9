import fc from 'fast-check';
import { anyUnits } from './any-text.ts';
import { damagedBytes } from './damaged-bytes.ts';

const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'tef',
      'TIMEOUT_ERROR',
      'user 11.111.111-1',
      // A code has 64 characters at most, and what is kept of a text 128.
      ...[64, 65, 128, 3_000].map((length) => 'x'.repeat(length)),
      '',
      '"\\/\b\f\n\r\t',
      'Ñuñoa — 😀',
    ),
  },
  { weight: 1, arbitrary: anyUnits({ maxLength: 20 }) },
);

const value = fc.oneof(
  { weight: 4, arbitrary: text as fc.Arbitrary<unknown> },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -0, 1.5, 1e21, [], {}, { '': {} }) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4, depthSize: 'small' }) },
);

const status = fc.constantFrom(
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'RUNNING',
  'PAUSED',
  'success',
  'pending',
  `COMPLETED${'x'.repeat(3_000)}`,
);

const action = fc.record({
  id: fc.oneof({ weight: 9, arbitrary: text }, value),
  status: fc.oneof({ weight: 9, arbitrary: status }, value),
  error: fc.oneof(fc.record({ code: fc.oneof(text, value) }), value),
});

/** Up to three, or as many as are still expected, 50, or one more. */
const actions = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.oneof({ weight: 9, arbitrary: action }, value), { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(action, fc.integer({ min: 49, max: 54 }))
      .map(([one, times]) => Array(times).fill(one)),
  },
);

/** A task, or the answer of a poll, whose fields have other values now and then. */
const answer = fc.record(
  {
    taskStatus: fc.oneof({ weight: 4, arbitrary: status }, value),
    taskStatusCode: fc.constantFrom<unknown>(200, 202, 400, 401, '200', null),
    results: fc.oneof(
      { weight: 9, arbitrary: fc.record({ actions: fc.oneof({ weight: 9, arbitrary: actions }, value) }) },
      value,
    ),
    data: value,
    constructor: value,
  },
  { requiredKeys: ['taskStatus', 'results'] },
);

const notJson = [
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  'NaN',
  'True',
  'nul',
  "'a'",
  '"\\x"',
  '"\\u12"',
  '"\t"',
  '',
];

/** As JSON.stringify writes none: with escapes, names that come twice, other whitespace, numbers beyond a double, or as nearly JSON. */
const spelled = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: answer }, value),
    fc.constantFrom('', ' ', '\r\n\t'),
    fc.constantFrom(...notJson),
  )
  .chain(([of, space, wrong]) => {
    const json = JSON.stringify(of, null, space);
    return fc.constantFrom(
      json,
      json,
      json,
      // A capital S is part of a text or of a name.
      json.replaceAll('S', '\\u0053'),
      json.replace('{', '{"taskStatus":"FAILED","results":{"actions":[{"id":"tef"}]},'),
      json.replace(/\}$/, ',"taskStatus":"PARTIAL","results":null}'),
      json.replace('{', '{"__proto__":{"taskStatus":"FAILED"},'),
      json.replace(/\b0\b/, '1e400'),
      json.replace(/\b0\b/, '9'.repeat(400)),
      json.replace(/\b(?:0|null|true)\b/, wrong),
      json.replace('{', '\u00a0{'),
      `\ufeff${json}`,
      `\ufeff\ufeff${json}`,
      `${json}\v`,
      wrong,
    );
  });

/** Moves what follows over the end of a piece of the parser. */
const padding = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1_900, max: 2_060 }) },
);

const bytes = fc
  .oneof(
    { weight: 20, arbitrary: fc.tuple(padding, spelled).map(([spaces, of]) => ' '.repeat(spaces) + of) },
    {
      weight: 1,
      arbitrary: fc.nat(4_995).map((depth) => `${'[{"results":'.repeat(depth)}0${'}]'.repeat(depth)}`),
    },
  )
  .map((of) => Buffer.from(of));

/** The body of a 200 to a read: JSON, and what is nearly JSON. */
export const readAnswer: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: bytes },
  { weight: 1, arbitrary: damagedBytes(bytes) },
);
