import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import type { RequestEvent } from '#lib/extraction/api/answer-request.ts';
import { plaintextBytes } from '../api/expected-answer.ts';
import { anyUnits } from './any-text.ts';
import { damagedBytes } from './damaged-bytes.ts';
import { textOf, validRequest } from './extraction-request.ts';
import { mutatedJson } from './mutated-json.ts';

const limit = 64 * 1024;

const asBytes = (value: unknown): Buffer => Buffer.from(textOf(value));

/** A valid request, filled up with spaces to about the most that is read. */
const nearTheLimit: fc.Arbitrary<Buffer> = fc
  .tuple(validRequest.map(asBytes), fc.constantFrom(-1, 0, 1, 2))
  .map(([text, over]) => Buffer.concat([text, Buffer.alloc(Math.max(0, limit + over - text.length), ' ')]));

const credentials = {
  raw: (value: string) => ({
    credentials: { mode: 'raw', value: { '@proto': { u: value }, constructor: 1 } },
    confirmed: true,
  }),
  persisted: (value: string) => ({ credentials: { mode: 'persisted', value } }),
  encrypted: (value: string) => ({ credentials: { mode: 'encrypted', value }, sessionToken: 't'.repeat(20) }),
} as const;

/** About the 4,096 bytes to seal that KMS Encrypt takes, of characters with one to six bytes of UTF-8 or JSON. */
const nearTheSeal: fc.Arbitrary<Buffer> = fc
  .record({
    of: fc.constantFrom(...Object.values(credentials)),
    filling: fc.constantFrom('x', 'ñ', '€', '😀', '"', '\u0000', '\ud800'),
    bytes: fc.integer({ min: 4_088, max: 4_104 }),
  })
  .map(({ of, filling, bytes }) => {
    const bytesOf = (value: string): number => plaintextBytes(JSON.parse(textOf(of(value))));
    const each = bytesOf(filling) - bytesOf('');
    const value = filling.repeat(Math.round((bytes - bytesOf('')) / each));
    return asBytes({ entity: 'bank', actions: [{ id: 'tef' }], ...of(value) });
  });

/** Credentials as deep or as wide as bodies may be, and unknown fields by the thousand. */
const huge: fc.Arbitrary<Buffer> = fc
  .tuple(fc.integer({ min: 1, max: 16_000 }), fc.boolean())
  .chain(([size, inCredentials]) => {
    const around = (value: string): string =>
      inCredentials
        ? `{"entity":"e","credentials":{"mode":"raw","value":{"a":${value}}},"actions":[{"id":"tef"}]}`
        : value;
    return fc.constantFrom(
      around(`${'['.repeat(size)}${']'.repeat(size)}`),
      around(`${'{"a":'.repeat(size / 4)}0${'}'.repeat(size / 4)}`),
      around(`[${'0,'.repeat(size)}0]`),
      around(`{${Array.from({ length: size / 4 }, (_, index) => `"${index}":0`).join()}}`),
      around(`"${'\\u0000'.repeat(size / 3)}"`),
      around('9'.repeat(size)),
      `{"entity":"e","credentials":{"mode":"persisted","value":"v"},"actions":[${'0,'.repeat(size)}0]}`,
    );
  })
  .map((text) => Buffer.from(text));

const oddText: fc.Arbitrary<Buffer> = validRequest
  .map(textOf)
  .chain((text) =>
    fc.constantFrom(
      `\ufeff${text}`,
      `\n\t ${text} `,
      `${text}\0`,
      `${text},`,
      `[${text}]`,
      `{"a":0,${text.slice(1)}`,
      `{"__proto__":{"entity":"x"},${text.slice(1)}`,
      `{"__proto__":null,${text.slice(1)}`,
      `{"constructor":{},${text.slice(1)}`,
      `{"prototype":7,${text.slice(1)}`,
      `{"entity":"first","method":"first",${text.slice(1)}`,
      `${text.slice(0, -1)},"reference":"a","reference":"b"}`,
      `${text.slice(0, -1)},"reference":"\\ud83d\\ude00"}`,
      `${text.slice(0, -1)},"reference":1e999}`,
      '',
      '{}',
      'null',
      '[]',
      '"entity"',
      '0',
    ),
  )
  .map((text) => Buffer.from(text));

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789', '0', '0'), minLength: 1, maxLength });

/** A number as JSON may spell it, near the precision of floats and near their ends. */
const numberText: fc.Arbitrary<string> = fc.oneof(
  fc
    .record({
      sign: fc.constantFrom('', '-'),
      whole: digits(20).map((text) => text.replace(/^0+(?=.)/, '')),
      fraction: fc.oneof(
        fc.constant(''),
        digits(20).map((text) => `.${text}`),
      ),
      exponent: fc.oneof(
        { weight: 2, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.integer({ min: -20, max: 20 }).map((by) => `e${by}`) },
        {
          weight: 1,
          arbitrary: fc.integer({ min: -340, max: 320 }).map((by) => `E${by < 0 ? by : `+${by}`}`),
        },
      ),
    })
    .map(({ sign, whole, fraction, exponent }) => `${sign}${whole}${fraction}${exponent}`),
  fc.constantFrom('-0', '0e999', '1e999', '1e-999', '5e-324', '2e-324', '1.0', '100e-2', '9007199254740993'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

/** Raw credentials with such numbers in them, at several depths. */
const numbers: fc.Arbitrary<Buffer> = fc
  .tuple(numberText, numberText)
  .chain(([one, other]) =>
    fc.constantFrom(
      `{"username":"u","pin":${one}}`,
      `{"a/b":[${one},{"":{"~":${other}}}],"c":"1e999"}`,
      `{"pin":${one},"pin":${other}}`,
      `{"__proto__":{"x":${one}}}`,
    ),
  )
  .map((value) =>
    Buffer.from(`{"entity":"e","credentials":{"mode":"raw","value":${value}},"actions":[{"id":"tef"}]}`),
  );

/** The bytes of a request: valid, nearly valid, odd, damaged, random, deep, or too large. */
const requestBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: validRequest.map(asBytes) },
  { weight: 12, arbitrary: mutatedJson(validRequest).map(asBytes) },
  { weight: 3, arbitrary: oddText },
  { weight: 3, arbitrary: damagedBytes(validRequest.map(asBytes)) },
  { weight: 1, arbitrary: (fc.jsonValue() as fc.Arbitrary<unknown>).map(asBytes) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: huge },
  { weight: 1, arbitrary: nearTheLimit },
  { weight: 2, arbitrary: nearTheSeal },
  { weight: 2, arbitrary: numbers },
);

const role = 'arn:aws:sts::111122223333:assumed-role/Caller';

/** The caller of most cases, in one of its sessions. */
export const callers = [`${role}/one`, `${role}/two`, 'arn:aws:iam::111122223333:user/u'] as const;

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 30,
});

const idempotencyKey = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 4, arbitrary: printable as fc.Arbitrary<string | undefined> },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      'ñ',
      'a\nb',
      'a\0',
      'x'.repeat(255),
      'x'.repeat(256),
      '"quoted"',
      'a,b',
    ),
  },
  { weight: 1, arbitrary: anyUnits({ maxLength: 10 }) },
);

export type RequestPlan = {
  readonly body: Buffer;
  readonly base64: boolean;
  readonly idempotencyKey: string | undefined;
  readonly caller: string;
  readonly contentType: string | undefined;
};

/** Everything about a request but its body. */
export const around = fc.record({
  base64: fc.boolean(),
  idempotencyKey,
  caller: fc.constantFrom<string>(...callers),
  contentType: fc.constantFrom(
    undefined,
    'application/json',
    'text/plain',
    'application/xml; charset=utf-16',
    '',
  ),
});

/** Any request. */
export const requestPlan: fc.Arbitrary<RequestPlan> = fc
  .tuple(requestBytes, around)
  .map(([body, rest]) => ({ ...rest, body }));

/** The event of a plan, as API Gateway hands it over: what is no text comes in base64, and no body as none. */
export const eventOf = ({ body, base64, idempotencyKey, caller, contentType }: RequestPlan): RequestEvent => {
  const isBase64Encoded = base64 || !isUtf8(body);
  return {
    ...(body.length === 0 ? {} : { body: body.toString(isBase64Encoded ? 'base64' : 'utf8') }),
    isBase64Encoded,
    headers: {
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    requestContext: { authorizer: { iam: { userArn: caller } } },
  };
};
