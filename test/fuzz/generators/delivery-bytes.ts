import fc from 'fast-check';
import { deliveryLimitBytes } from '#lib/webhook/receive-delivery.ts';
import { anyText, anyUnits } from './any-text.ts';
import { damagedBytes } from './damaged-bytes.ts';
import { knownTasks, terminalStatus } from './world-setup.ts';

/** The bytes of a delivery's plain payload. */
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const taskId = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<string>(...knownTasks) },
  { weight: 2, arbitrary: anyText({ minLength: 1, maxLength: 50 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 95, maxLength: 100 }) },
);

/** A delivery that the design has recorded: a task that is known or not, and one of the five statuses. */
const validDelivery = fc
  .record({ taskId, taskStatus: terminalStatus })
  .filter((one) => one.taskId !== '.' && one.taskId !== '..');
export const validPayload = validDelivery.map(json);

/** The same for a task that items are about. */
export const knownPayload = fc
  .record({ taskId: fc.constantFrom<string>(...knownTasks), taskStatus: terminalStatus })
  .map(json);

const extraFields = fc.dictionary(
  fc.string({ maxLength: 8 }).filter((name) => !['taskId', 'taskStatus', 'data'].includes(name)),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 3 },
);

const unknownStatus = fc.oneof(
  fc.constantFrom('PENDING', 'RUNNING', 'completed', 'TIMED_OUT', 'CANCELLED', '', '__proto__', 'COMPLETED '),
  anyUnits({ maxLength: 30 }),
);

/** Everything that a taskId or a status is not, and some that it is. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    0,
    7,
    -1,
    1e308,
    true,
    '',
    '.',
    '..',
    'x'.repeat(100),
    'x'.repeat(101),
    '😀'.repeat(51),
    '\ud800',
    {},
    [],
    ['task-0'],
    { taskId: 'task-0' },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const nearValid: fc.Arbitrary<Buffer> = fc
  .record(
    { taskId: fc.oneof(anything, taskId), taskStatus: fc.oneof(anything, terminalStatus), data: anything },
    { requiredKeys: [] },
  )
  .map(json);

/** Texts that JSON.stringify never makes. */
const oddText: fc.Arbitrary<Buffer> = fc
  .tuple(knownPayload.map(String), fc.integer({ min: 1, max: 7_000 }))
  .chain(([text, depth]) => {
    const inside = text.slice(1, -1);
    return fc.constantFrom(
      `\ufeff${text}`,
      ` \t\r\n${text}\n`,
      `${text}\0`,
      `${text}${text}`,
      `[${text}]`,
      `{${inside},"taskId":"task-1"}`,
      `{"taskId":7,${inside}}`,
      `{"taskStatus":"RUNNING",${inside}}`,
      `{"__proto__":${text}}`,
      `{"__proto__":{"data":"x"},${inside}}`,
      `{"constructor":{"prototype":{"taskId":"x"}},${inside}}`,
      `{"data":null,${inside}}`,
      `{"data":"x",${inside}}`,
      `{"taskId":"\\u0074ask-0","taskStatus":"COMPLETED"}`,
      `{"taskId":"task-0","taskStatus":"COMPLETED","nested":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      '{"a":'.repeat(Math.ceil(depth / 3)),
      '['.repeat(depth),
      `{${inside},}`,
      `{'taskId':'task-0','taskStatus':'COMPLETED'}`,
      'NaN',
      '1e999',
      '"task-0"',
      'null',
      '',
    );
  })
  .map((text) => Buffer.from(text));

/** A delivery that is filled up with spaces to about the most that is read. */
const nearTheLimit: fc.Arbitrary<Buffer> = fc
  .tuple(validPayload, fc.constantFrom(-1, 0, 1, 2, 3, 40_000))
  .map(([text, over]) =>
    Buffer.concat([text, Buffer.alloc(Math.max(0, deliveryLimitBytes + over - text.length), ' ')]),
  );

/** Deliveries but for bytes that are no UTF-8, where a lenient decoder puts U+FFFD: overlong, cut off, surrogates. */
const noUtf8: fc.Arbitrary<Buffer> = fc
  .record({
    text: knownPayload.map(String),
    bytes: fc.constantFrom('ff', '80', 'c3', 'c0af', 'eda080', 'f0908d', 'f4908080'),
    place: fc.constantFrom('"note":"<>",', '"<>":0,'),
  })
  .map(({ text, bytes, place }) => {
    const [before = '', after = ''] = text.replace('{', `{${place}`).split('<>');
    return Buffer.concat([Buffer.from(before), Buffer.from(bytes, 'hex'), Buffer.from(after)]);
  });

/** Bytes of a payload: valid, of an unknown status, nearly valid, odd, not UTF-8, damaged, random, or too large. */
export const deliveryBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: validPayload },
  {
    weight: 3,
    arbitrary: fc.tuple(validDelivery, extraFields).map(([one, more]) => json({ ...more, ...one })),
  },
  { weight: 3, arbitrary: fc.record({ taskId, taskStatus: unknownStatus }).map(json) },
  { weight: 5, arbitrary: nearValid },
  { weight: 4, arbitrary: oddText },
  { weight: 2, arbitrary: noUtf8 },
  { weight: 5, arbitrary: damagedBytes(validPayload) },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: nearTheLimit },
);
