import * as v from 'valibot';
import {
  answerText,
  checkRequest,
  consentIdField,
  nationalIdField,
  productField,
  textField,
} from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import { type EntityType, entityTypes, type ProductType } from '../vocabulary.ts';

const path = '/api/v1/token/otp/create';

/** "Create OTP token", for a natural person. */
export type OtpTokenRequest = {
  /** The products that the user is asked to authorize. */
  readonly products: readonly ProductType[];
  /** `username` is a national id with its check digit, with or without dots and hyphen. */
  readonly user: { readonly username: string; readonly email?: string };
  readonly filters?: {
    readonly entities?: { readonly include?: { readonly types?: readonly EntityType[] } };
  };
  readonly clientId: string;
  /** Case-sensitive. */
  readonly widgetConfigId: string;
  /** Default `es-CL`. */
  readonly locale?: string;
};

/** "Create OTP token", for a legal person. `company.id` is the company's national id. */
export type LegalPersonOtpTokenRequest = OtpTokenRequest & { readonly company: { readonly id: string } };

export type OtpToken = {
  /** A JWT that initializes the widget once. */
  readonly otpToken: string;
  /** The consent created for this session. */
  readonly consentId: string;
};

const company = v.object({ id: nationalIdField }, 'must be an object with an id');
const entityType = v.picklist(entityTypes, `must be one of ${entityTypes.join(', ')}`);
const requestFields = {
  products: v.array(productField, 'must be a list'),
  user: v.object({ username: nationalIdField, email: v.optional(textField) }, 'must be an object'),
  filters: v.optional(
    v.object({
      entities: v.optional(
        v.object({ include: v.optional(v.object({ types: v.optional(v.array(entityType)) })) }),
      ),
    }),
  ),
  clientId: textField,
  widgetConfigId: textField,
  locale: v.optional(textField),
};
const naturalSchema = v.object(requestFields);
const legalSchema = v.object({ ...requestFields, company });

const answerSchema: v.GenericSchema<unknown, { data: OtpToken }> = v.looseObject({
  data: v.looseObject({ otpToken: answerText, consentId: consentIdField }),
});

const create = async (
  schema: v.GenericSchema,
  connection: Connection,
  apiKey: string,
  request: OtpTokenRequest,
): Promise<OtpToken> => {
  checkRequest(schema, request, path);
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: { 'x-api-key': apiKey },
    body: request,
  });
  return data;
};

/**
 * Creates the token that initializes the user's widget once, and the consent that the user authorizes there. Throws
 * InvalidProviderRequest, ProviderUnauthorized for a wrong API key, and the other ProviderErrors.
 */
export const createOtpToken = (
  connection: Connection,
  apiKey: string,
  request: OtpTokenRequest,
): Promise<OtpToken> => create(naturalSchema, connection, apiKey, request);

/** As `createOtpToken`, for a legal person. */
export const createLegalPersonOtpToken = (
  connection: Connection,
  apiKey: string,
  request: LegalPersonOtpTokenRequest,
): Promise<OtpToken> => create(legalSchema, connection, apiKey, request);
