import * as v from 'valibot';
import { closedObject, line } from '../http/body-fields.ts';
import { type Violation, violationOf } from '../http/violation.ts';
import type { LegalPersonOtpTokenRequest, OtpTokenRequest } from '../provider/tokens/create-otp-token.ts';
import { nationalIdField, productField } from '../provider/transport/request-fields.ts';
import { entityTypes, productTypes } from '../provider/vocabulary.ts';

type Ours = 'clientId' | 'widgetConfigId';

/** A consent session to be opened, less what the stack's settings add. */
export type SessionRequest =
  | { readonly person: 'natural'; readonly order: Omit<OtpTokenRequest, Ours> }
  | { readonly person: 'legal'; readonly order: Omit<LegalPersonOtpTokenRequest, Ours> };

export type ParsedSessionRequest =
  | { readonly kind: 'valid'; readonly request: SessionRequest }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

const notAnObject = 'must be an object';

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where every field may be left out, a list would pass for an empty object. */
const optionalFields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, notAnObject), closedObject(entries, notAnObject));

const entityFilter = optionalFields({
  types: v.exactOptional(
    v.array(v.picklist(entityTypes, `must be one of ${entityTypes.join(', ')}`), 'must be a list'),
  ),
});

const bodySchema = v.pipe(
  closedObject(
    {
      person: v.exactOptional(v.picklist(['natural', 'legal'], 'must be natural or legal'), 'natural'),
      products: v.pipe(
        v.array(productField, 'must be a list'),
        v.minLength(1, 'must name at least one product'),
        v.maxLength(productTypes.length, `must name at most ${productTypes.length} products`),
      ),
      user: v.exactOptional(
        optionalFields({ username: v.exactOptional(nationalIdField), email: v.exactOptional(line(320)) }),
        {},
      ),
      filters: v.exactOptional(
        optionalFields({
          entities: v.exactOptional(optionalFields({ include: v.exactOptional(entityFilter) })),
        }),
      ),
      locale: v.exactOptional(line(35)),
    },
    'must be a JSON object',
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { person, user } = dataset.value;
    if ((person === 'legal') === (user.username !== undefined)) return;
    const at = { type: 'object', origin: 'value', value: null } as const;
    addIssue({
      message:
        person === 'legal'
          ? 'is required for a legal person: who acts for the company that Cosecha-Target names'
          : 'must only be sent for a legal person: a natural one is named by Cosecha-Target',
      path: [
        { ...at, input: dataset.value, key: 'user' },
        { ...at, input: user, key: 'username' },
      ],
    });
  }),
);

/** Only what was given: the provider has defaults of its own. */
const orderOf = ({ products, filters, locale }: v.InferOutput<typeof bodySchema>) =>
  ({
    products,
    ...(filters === undefined ? {} : { filters }),
    ...(locale === undefined ? {} : { locale }),
  }) as Pick<OtpTokenRequest, 'products' | 'filters' | 'locale'>;

/**
 * Validates the body of `POST /consent-sessions`, JSON already. `target` is whose consent it will be: the natural
 * person, or the company of a legal one, for which `user.username` acts. Reports every violation.
 */
export const parseSessionRequest = (body: unknown, target: string): ParsedSessionRequest => {
  const parsed = v.safeParse(bodySchema, body);
  if (!parsed.success) return { kind: 'invalid', violations: parsed.issues.map(violationOf) };
  const { person, user } = parsed.output;
  const { username = target, email } = user;
  const order = { ...orderOf(parsed.output), user: { username, ...(email === undefined ? {} : { email }) } };
  return {
    kind: 'valid',
    request:
      person === 'legal' ? { person, order: { ...order, company: { id: target } } } : { person, order },
  };
};
