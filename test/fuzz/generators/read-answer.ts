import fc from 'fast-check';
import { anyUnits } from './any-text.ts';
import { damagedBytes } from './damaged-bytes.ts';

/** Names that decide something, some of them with an escape, and names that do not. */
const names = [
  'taskStatus',
  'task\\u0053tatus',
  'taskStatusCode',
  'results',
  'data',
  'actions',
  'id',
  'status',
  'error',
  'code',
  'message',
  '__proto__',
  'constructor',
  '',
];

const words = [
  'COMPLETED',
  'COMPL\\u0045TED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'RUNNING',
  'PAUSED',
  'success',
  'pending',
  'tef',
  'TIMEOUT_ERROR',
  'user 11.111.111-1',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(128),
  `COMPLETED${'x'.repeat(3_000)}`,
  '',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\"\\\\\\/\\b\\f\\n\\r\\t',
  'Ñuñoa — 😀',
];

/** Scalars as JSON has them, and as it does not. */
const scalars = ['null', 'true', 'false', '0', '-0', '7', '1.50', '1E+2', '1e400', '9'.repeat(400)];
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

const quoted = (text: string): string => `"${text}"`;

const string = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words).map(quoted) },
  { weight: 1, arbitrary: anyUnits({ maxLength: 20 }).map((text) => JSON.stringify(text)) },
);

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names).map(quoted) },
  { weight: 1, arbitrary: string },
);

const space = fc.oneof(
  { weight: 24, arbitrary: fc.constant('') },
  { weight: 6, arbitrary: fc.constantFrom(' ', '\n', '\r\n\t') },
  // Whitespace of JavaScript, and not of JSON.
  { weight: 1, arbitrary: fc.constantFrom('', '\u00a0', '\v', '\ufeff') },
);

const list = (items: readonly string[], between: string): string => items.join(`,${between}`);

const { value } = fc.letrec<{ readonly value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    { weight: 4, arbitrary: string },
    { weight: 3, arbitrary: fc.constantFrom(...scalars) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
        .map(([items, between]) => `[${between}${list(items, between)}]`),
    },
    {
      weight: 5,
      arbitrary: fc
        .tuple(fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }), space)
        .map(([members, between]) => {
          const texts = members.map(([key, of]) => `${key}${between}:${of}`);
          return `{${list(texts, between)}${between}}`;
        }),
    },
  ),
}));

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        string,
        string,
        fc.oneof(
          value,
          string.map((code) => `{"code":${code}}`),
        ),
      )
      .map(([id, status, error]) => `{"id":${id},"status":${status},"error":${error}}`),
  },
  { weight: 1, arbitrary: value },
);

const actions = fc
  .tuple(fc.array(action, { maxLength: 3 }), fc.constantFrom(1, 1, 1, 17, 18))
  .map(([items, times]) => `[${list(Array.from({ length: times }, () => items).flat(), '')}]`);

const statuses = [
  'COMPLETED',
  'COMPL\\u0045TED',
  'PARTIAL',
  'FAILED',
  'CREDENTIALS_WRONG',
  'RUNNING',
  'success',
];

/** A task as documented, with one more member somewhere. */
const task = fc
  .tuple(
    fc.constantFrom(...statuses),
    fc.oneof(
      { weight: 5, arbitrary: actions.map((of) => `{"actions":${of}}`) },
      { arbitrary: value, weight: 1 },
    ),
    fc.tuple(name, value),
    fc.nat(2),
  )
  .map(([status, results, [key, of], at]) => {
    const members = [`"taskStatus":"${status}"`, `"results":${results}`];
    members.splice(at, 0, `${key}:${of}`);
    return `{${list(members, '')}}`;
  });

/** A text near a task, or near an answer of a poll. Its members may come twice. */
const answer = fc
  .tuple(
    fc.array(
      fc.oneof(
        string.map((status) => `"taskStatus":${status}`),
        fc.oneof(actions, value).map((of) => `"results":{"actions":${of}}`),
        value.map((of) => `"results":${of}`),
        value.map((of) => `"data":${of}`),
        fc.tuple(name, value).map(([key, of]) => `${key}:${of}`),
      ),
      { maxLength: 6 },
    ),
    space,
  )
  .map(([members, between]) => `{${between}${list(members, between)}}`);

/** Moves what follows over the end of a piece of the parser. */
const padding = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', '\ufeff', '\ufeff\ufeff') },
  { weight: 2, arbitrary: fc.integer({ min: 1_900, max: 2_060 }).map((length) => ' '.repeat(length)) },
);

const text = fc
  .tuple(
    padding,
    fc.oneof(
      { weight: 12, arbitrary: task },
      { weight: 6, arbitrary: answer },
      { weight: 2, arbitrary: value },
      { weight: 1, arbitrary: fc.constantFrom(...notJson, ...scalars) },
      { weight: 1, arbitrary: fc.constantFrom(...notJson).map((of) => `{"taskStatus":${of}}`) },
      {
        weight: 1,
        arbitrary: fc
          .nat(9_990)
          .map((depth) => `${'[{"results":'.repeat(depth / 2)}0${'}]'.repeat(depth / 2)}`),
      },
    ),
    space,
  )
  .map((parts) => Buffer.from(parts.join('')));

/** The body of a 200 to a read: JSON, and what is nearly JSON. */
export const readAnswer: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 1, arbitrary: damagedBytes(text) },
);
