import * as v from 'valibot';
import { type BodyViolation, closedObject, line, violationOf } from '../http/body-fields.ts';
import type { LegalPersonOtpTokenRequest, OtpTokenRequest } from '../provider/tokens/create-otp-token.ts';
import { nationalIdField, productField } from '../provider/transport/field-schemas.ts';
import { entityTypes, productTypes } from '../provider/vocabulary.ts';

type FromSettings = 'clientId' | 'widgetConfigId';

/** The input of a new consent session, without the fields that come from settings. */
export type SessionRequest =
  | { readonly person: 'natural'; readonly input: Omit<OtpTokenRequest, FromSettings> }
  | { readonly person: 'legal'; readonly input: Omit<LegalPersonOtpTokenRequest, FromSettings> };

type ParsedSessionRequest =
  | { readonly kind: 'valid'; readonly request: SessionRequest }
  | { readonly kind: 'invalid'; readonly violations: readonly BodyViolation[] };

const entityFilter = closedObject({
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
        closedObject({ username: v.exactOptional(nationalIdField), email: v.exactOptional(line(320)) }),
        {},
      ),
      filters: v.exactOptional(
        closedObject({
          entities: v.exactOptional(closedObject({ include: v.exactOptional(entityFilter) })),
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
          ? 'is required for a legal person: the person who acts for the company in Cosecha-Target'
          : 'is allowed only for a legal person: a natural person is the one in Cosecha-Target',
      path: [
        { ...at, input: dataset.value, key: 'user' },
        { ...at, input: user, key: 'username' },
      ],
    });
  }),
);

/**
 * Validates the parsed body of `POST /consent-sessions` and returns every violation. `target` is the national id of the
 * natural person or of the company. For a company, `user.username` is the person who acts for it. Optional fields that
 * are missing stay missing, because the provider has its own defaults.
 */
export const parseSessionRequest = (body: unknown, target: string): ParsedSessionRequest => {
  const parsed = v.safeParse(bodySchema, body);
  if (!parsed.success) return { kind: 'invalid', violations: parsed.issues.map(violationOf) };
  const { person, user, ...fields } = parsed.output;
  const input = { ...fields, user: { ...user, username: user.username ?? target } };
  return {
    kind: 'valid',
    request:
      person === 'legal' ? { person, input: { ...input, company: { id: target } } } : { person, input },
  };
};
