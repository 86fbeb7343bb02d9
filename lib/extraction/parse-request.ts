import * as v from 'valibot';
import type { Credentials } from '../provider/start-task.ts';
import type { RequestedAction } from './record.ts';
import { encodeSealed, type SealedPlaintext, sealLimitBytes } from './sealed-plaintext.ts';

/** What a caller asks for, validated: the v2 task request less `webhook`, plus our own fields. */
export type ExtractionRequest = {
  readonly entity: string;
  readonly credentials: Credentials;
  readonly actions: readonly RequestedAction[];
  readonly reference?: string;
  /** Only with encrypted credentials: the session token that keys them. */
  readonly sessionToken?: string;
};

/** One thing that is wrong, and where. `detail` never repeats a value of the request. */
export type Violation = {
  /** JSON pointer (RFC 6901) into the request body; empty for the body as a whole. */
  readonly pointer: string;
  readonly detail: string;
};

export type ParsedRequest =
  | { readonly kind: 'valid'; readonly request: ExtractionRequest }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

/** In v2 task actions only these are listed ("Product identifiers"). */
const actionIds = ['movement', 'product-balance', 'tef'] as const;

const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `must have at most ${max} characters`),
  );

/** A day that exists: `new Date('2026-02-30')` silently becomes March, so the text must survive the round trip. */
const isRealDate = (day: string): boolean => {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
};

const date = v.config(
  v.pipe(
    v.string('must be a string'),
    v.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date in the form YYYY-MM-DD'),
    v.check(isRealDate, 'must be a date that exists'),
  ),
  { abortPipeEarly: true },
);

const dateRange = v.pipe(
  v.strictObject({ startDate: date, endDate: date }, 'must be an object with startDate and endDate'),
  v.forward(
    v.check(({ startDate, endDate }) => startDate <= endDate, 'must not be before startDate'),
    ['endDate'],
  ),
);

const movement = v.strictObject({
  id: v.literal('movement'),
  params: v.strictObject({ dateRange }, 'is required for movement and must contain dateRange'),
});

/** `tef` and `product-balance` do not accept `params` ("v2 task request"). */
const withoutParams = v.strictObject({ id: v.picklist(['product-balance', 'tef']) });

const action = v.pipe(
  v.looseObject(
    { id: v.picklist(actionIds, `must be one of ${actionIds.join(', ')}`) },
    'must be an object with an id',
  ),
  v.variant('id', [movement, withoutParams]),
);

const ciphertext = (mode: 'encrypted' | 'persisted') =>
  v.strictObject({ mode: v.literal(mode), value: text(sealLimitBytes) });

const credentials = v.variant(
  'mode',
  [
    v.strictObject({
      mode: v.literal('raw'),
      // Entity-specific fields: the one place where unknown fields pass.
      value: v.pipe(
        v.record(v.string(), v.unknown(), 'must be an object'),
        v.check((value) => !Array.isArray(value), 'must be an object'),
        v.check((value) => Object.keys(value).length > 0, 'must not be empty'),
      ),
    }),
    ciphertext('encrypted'),
    ciphertext('persisted'),
  ],
  'must be an object whose mode is raw, encrypted or persisted',
);

const requestSchema = v.pipe(
  v.strictObject(
    {
      entity: text(100),
      credentials,
      actions: v.pipe(
        v.array(action, 'must be a list'),
        v.minLength(1, 'must name at least one action'),
        // The document names no maximum; a task has no use for more than this.
        v.maxLength(50, 'must name at most 50 actions'),
      ),
      reference: v.exactOptional(text(256)),
      sessionToken: v.exactOptional(text(sealLimitBytes)),
    },
    'must be a JSON object',
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { credentials, sessionToken } = dataset.value;
    const needsToken = credentials.mode === 'encrypted';
    if (needsToken === (sessionToken !== undefined)) return;
    addIssue({
      message: needsToken
        ? 'is required when credentials.mode is encrypted: it keys them'
        : 'must only be sent when credentials.mode is encrypted',
      path: [{ type: 'object', origin: 'value', input: dataset.value, key: 'sessionToken', value: null }],
    });
  }),
);

const pointerOf = (issue: v.BaseIssue<unknown>): string =>
  (issue.path ?? []).map(({ key }) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** valibot's own sentences quote what they received; only ours, which do not, are passed on. */
const detailOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a known field';
  if (issue.type === 'strict_object' && issue.received === 'undefined') return 'is required';
  if (issue.type === 'variant' && issue.path?.at(-1)?.key === 'mode') {
    return 'must be raw, encrypted or persisted';
  }
  if (/^Invalid /.test(issue.message)) return 'is not valid here';
  return issue.message;
};

/** What would be sealed for this request: the plaintext that KMS's limit applies to. */
export const sealedPlaintextOf = ({ credentials, sessionToken }: ExtractionRequest): SealedPlaintext => ({
  credentials,
  ...(sessionToken === undefined ? {} : { sessionToken }),
});

/** Validates a request body that is JSON already. Reports every violation, not only the first. */
export const parseExtractionRequest = (body: unknown): ParsedRequest => {
  const parsed = v.safeParse(requestSchema, body);
  if (!parsed.success) {
    const violations = parsed.issues.map((issue) => ({ pointer: pointerOf(issue), detail: detailOf(issue) }));
    return { kind: 'invalid', violations };
  }
  const request = parsed.output as ExtractionRequest;
  const sealed = encodeSealed(sealedPlaintextOf(request)).byteLength;
  if (sealed > sealLimitBytes) {
    const detail = `must fit in ${sealLimitBytes} bytes together with the session token, as one JSON text`;
    return { kind: 'invalid', violations: [{ pointer: '/credentials', detail }] };
  }
  return { kind: 'valid', request };
};
