import { closest } from 'fastest-levenshtein';
import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { type BodyViolation, closedObject, line, text, violationOf } from '../../http/body-fields.ts';
import { findChangedNumbers, findReplacedText } from '../../http/parse-request-body.ts';
import type { Credentials } from '../../provider/tasks/start-task.ts';
import {
  consentIdField,
  dayField,
  nationalIdField,
  productField,
} from '../../provider/transport/field-schemas.ts';
import { type ActionParams, taskActions } from '../../provider/vocabulary.ts';
import { type ConsentMethod, type CredentialsMethod, maxNameLength } from '../record.ts';
import { encodeSealed, type SealedRequestData, sealLimitBytes } from '../sealed-request-data.ts';

/** The caller's own names for a request, and its priority. `interactive` is not stored, because it is the default. */
type CommonFields = {
  readonly reference?: string;
  readonly batch?: string;
  readonly priority?: 'background';
};

/** The v2 task request without `webhook`, plus Cosecha's own fields. */
export type CredentialsRequest = CredentialsMethod &
  CommonFields & {
    readonly credentials: Credentials;
    /** Only with encrypted credentials: the session token under which they are encrypted. */
    readonly sessionToken?: string;
    /** The user has confirmed the credentials. They are sent even if the bank refused them before. */
    readonly confirmed?: true;
  };

/** "Start extraction", plus the target of the consent and Cosecha's own fields. */
export type ConsentRequest = ConsentMethod &
  CommonFields & {
    /** The national id of the natural person, or of the company. */
    readonly target: string;
  };

export type ValidRequest = CredentialsRequest | ConsentRequest;

export type AcceptedRequests = {
  /** The setting `entities`. If absent, any entity is accepted. */
  readonly entities?: readonly string[];
  /** The setting `moreActions`: the params of each action that the provider has added since. */
  readonly moreActions?: Readonly<Record<string, ActionParams>>;
};

type ParsedRequest =
  | { readonly kind: 'valid'; readonly request: ValidRequest }
  | { readonly kind: 'invalid'; readonly violations: readonly BodyViolation[] };

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const dateRange = v.pipe(
  closedObject({ startDate: dayField, endDate: dayField }, 'must be an object with startDate and endDate'),
  v.forward(
    v.check(({ startDate, endDate }) => startDate <= endDate, 'must not be before startDate'),
    ['endDate'],
  ),
);

const notAnObject = 'must be an object';
const noJsonObject = 'must be a JSON object';

const entityOf = ({ entities }: AcceptedRequests) => {
  if (entities === undefined) return line(100);
  const isOne = (entity: string) => entities.includes(entity);
  return v.pipe(
    line(100),
    v.check(
      isOne,
      ({ input }) => `must be an entity of the setting entities; the nearest is ${closest(input, entities)}`,
    ),
  );
};

const actionOf = ({ moreActions }: AcceptedRequests) => {
  const actions: Readonly<Record<string, ActionParams>> = { ...taskActions, ...moreActions };
  const ids = Object.keys(actions);
  const idsWith = (params: ActionParams) => v.picklist(ids.filter((id) => actions[id] === params));
  const params = closedObject({ dateRange }, 'is required for this action and must contain dateRange');
  return v.pipe(
    // Returned unchanged. An object schema of valibot would remove the unknown fields, and `closedObject` has to refuse them.
    v.custom<{ readonly id?: unknown }>(isPlainObject, 'must be an object with an id'),
    v.forward(
      v.check(({ id }) => (ids as readonly unknown[]).includes(id), `must be one of ${ids.join(', ')}`),
      ['id'],
    ),
    v.variant('id', [
      closedObject({ id: idsWith('dateRange'), params }, notAnObject),
      // All other actions accept no `params` ("v2 task request").
      closedObject({ id: idsWith('none') }, notAnObject),
    ]),
  );
};

const ciphertext = (mode: 'encrypted' | 'persisted') =>
  closedObject({ mode: v.literal(mode), value: text(sealLimitBytes) }, notAnObject);

const wouldChange = 'must be a number that a 64-bit float keeps, or a string';

/** An item of an issue's path, in valibot's form. Only the key is used. */
const pathItem = (key: string): v.UnknownPathItem => ({
  type: 'unknown',
  origin: 'value',
  input: null,
  key,
  value: null,
});

const pathOf = ([first = '', ...rest]: readonly string[]) =>
  [pathItem(first), ...rest.map(pathItem)] as [v.UnknownPathItem, ...v.UnknownPathItem[]];

/** No known entity has nested fields. The limit protects the provider's parser from the depth that 4,096 bytes allow. */
const maxLevels = 8;

/** Whether objects and lists are nested deeper than `levels`. The value itself is the first level. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

const wasNotUtf8 = 'must not contain U+FFFD: it stands for bytes that were not UTF-8';

const anyCredentials = v.variant(
  'mode',
  [
    closedObject(
      {
        mode: v.literal('raw'),
        // Any field is accepted here, because the fields depend on the entity. Everywhere else, unknown fields are refused.
        value: v.pipe(
          v.custom<Record<string, unknown>>(isPlainObject, notAnObject),
          v.check((value) => Object.keys(value).length > 0, 'must not be empty'),
          v.check(
            (value) => !isDeeper(value, maxLevels),
            `must not be nested more than ${maxLevels} levels deep`,
          ),
          v.rawCheck(({ dataset, addIssue }) => {
            if (!dataset.typed) return;
            for (const names of findChangedNumbers(dataset.value)) {
              addIssue({ message: wouldChange, path: pathOf(names) });
            }
          }),
        ),
      },
      notAnObject,
    ),
    ciphertext('encrypted'),
    ciphertext('persisted'),
  ],
  'must be an object whose mode is raw, encrypted or persisted',
);

/** The bank would count an altered password as a wrong one. */
const credentials = v.pipe(
  anyCredentials,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const names of findReplacedText(dataset.value)) {
      addIssue({ message: wasNotUtf8, path: pathOf(names) });
    }
  }),
);

const priorities = ['interactive', 'background'] as const;

const commonFields = {
  reference: v.exactOptional(line(maxNameLength)),
  batch: v.exactOptional(line(maxNameLength)),
  priority: v.exactOptional(v.picklist(priorities, 'must be interactive or background')),
};

const credentialsSchemaOf = (accepted: AcceptedRequests) =>
  v.pipe(
    closedObject(
      {
        method: v.exactOptional(v.literal('credentials'), 'credentials'),
        entity: entityOf(accepted),
        credentials,
        actions: v.pipe(
          v.array(actionOf(accepted), 'must be a list'),
          v.minLength(1, 'must name at least one action'),
          // The API document names no maximum. No task needs more.
          v.maxLength(50, 'must name at most 50 actions'),
          v.rawCheck(({ dataset, addIssue }) => {
            if (!dataset.typed) return;
            const texts = dataset.value.map((one) => JSON.stringify(one));
            for (const [index, text] of texts.entries()) {
              if (texts.indexOf(text) === index) continue;
              addIssue({ message: 'must not repeat an action', path: [pathItem(String(index))] });
            }
          }),
        ),
        ...commonFields,
        confirmed: v.exactOptional(v.boolean('must be true or false')),
        sessionToken: v.exactOptional(
          v.pipe(
            text(sealLimitBytes),
            // The session token is sent in a header.
            v.regex(/^[\x21-\x7e]+$/, 'must consist of printable ASCII characters'),
          ),
        ),
      },
      noJsonObject,
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
    v.transform(({ confirmed, ...request }) => (confirmed ? { ...request, confirmed } : request)),
  );

const consentSchema = closedObject(
  {
    method: v.literal('consent'),
    product: v.pipe(
      v.unknown(),
      v.check(
        (product) => !Array.isArray(product),
        'must be one product: send one request for each of several',
      ),
      productField,
    ),
    consentId: consentIdField,
    target: nationalIdField,
    variant: v.exactOptional(v.picklist(['v1', 'v2'], 'must be v1 or v2'), 'v1'),
    ...commonFields,
  },
  noJsonObject,
);

/** The method that a body names. A misspelt one is neither of the two. */
const methodOf = (body: unknown): unknown =>
  isPlainObject(body) && Object.hasOwn(body, 'method') ? body.method : 'credentials';

/** The part of a request that is sealed. The limit of KMS applies to it. */
export const requestDataToSeal = (request: ValidRequest): SealedRequestData => {
  if (request.method === 'consent') return { target: request.target };
  const { credentials, sessionToken, confirmed } = request;
  return { credentials, ...defined({ sessionToken, confirmed }) };
};

/**
 * Returns a function that validates a parsed JSON body against what a deployment accepts. It returns the request, or all violations. It
 * never throws.
 */
export const extractionRequestParser = (accepted: AcceptedRequests): ((body: unknown) => ParsedRequest) => {
  const credentialsSchema = credentialsSchemaOf(accepted);
  return (body) => {
    const method = methodOf(body);
    if (method === 'consent') return parseWith(consentSchema, body);
    if (method === 'credentials') return parseWith(credentialsSchema, body);
    return {
      kind: 'invalid',
      violations: [{ pointer: '/method', detail: 'must be credentials or consent' }],
    };
  };
};

const parseWith = (
  schema: ReturnType<typeof credentialsSchemaOf> | typeof consentSchema,
  body: unknown,
): ParsedRequest => {
  const parsed = v.safeParse(schema, body);
  if (!parsed.success) {
    return { kind: 'invalid', violations: parsed.issues.map(violationOf) };
  }
  const request = withoutDefaultPriority(parsed.output) as ValidRequest;
  if (fitsTheSeal(request)) return { kind: 'valid', request };
  const detail = `must fit in ${sealLimitBytes} bytes together with the session token, as one JSON text`;
  return { kind: 'invalid', violations: [{ pointer: '/credentials', detail }] };
};

/** A request that names the default has the same fingerprint as one without it. */
const withoutDefaultPriority = <Request extends { readonly priority?: (typeof priorities)[number] }>({
  priority,
  ...request
}: Request) => (priority === 'background' ? { ...request, priority } : request);

const fitsTheSeal = (request: ValidRequest): boolean =>
  encodeSealed(requestDataToSeal(request)).byteLength <= sealLimitBytes;
