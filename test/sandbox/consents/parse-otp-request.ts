import * as v from 'valibot';
import { ENTITY_TYPES } from '../entities.ts';
import { PRODUCTS } from '../product-vocabulary.ts';
import type { Client } from '../state-types.ts';
import { type ParsedBody, readJson } from '../transport/read-json.ts';
import { nationalIdFrom } from './national-id.ts';

const required = v.pipe(v.string(), v.minLength(1));

/** A national id in any form, normalized to `11111111-1`. */
export const NationalIdSchema = v.pipe(
  v.string(),
  v.check((text) => nationalIdFrom(text) !== undefined),
  v.transform((text) => nationalIdFrom(text) ?? text),
);

/** "Create OTP token". */
const OtpRequestSchema = v.strictObject({
  products: v.pipe(v.array(v.picklist(PRODUCTS)), v.minLength(1)),
  user: v.strictObject({ username: NationalIdSchema, email: v.exactOptional(required) }),
  company: v.exactOptional(v.strictObject({ id: NationalIdSchema })),
  filters: v.exactOptional(
    v.strictObject({
      entities: v.exactOptional(
        v.strictObject({
          include: v.exactOptional(
            v.strictObject({ types: v.exactOptional(v.array(v.picklist(ENTITY_TYPES))) }),
          ),
        }),
      ),
    }),
  ),
  clientId: v.pipe(v.string(), v.uuid()),
  widgetConfigId: required,
  locale: v.exactOptional(required, 'es-CL'),
});
export type OtpRequest = v.InferOutput<typeof OtpRequestSchema>;

/** Parses the body of a client's call. Returns the request, or the paths of invalid fields. */
export const parseOtpRequest = (body: string, client: Client): ParsedBody<OtpRequest> => {
  const parsed = readJson(body, OtpRequestSchema);
  if (!parsed.valid) return parsed;
  const { widgetConfigId, company } = parsed.output;
  const companyWidgetId = companyWidgetOf(client);
  if (widgetConfigId !== client.widgetConfigId && widgetConfigId !== companyWidgetId) {
    return { valid: false, invalid: ['widgetConfigId'] };
  }
  if (widgetConfigId === companyWidgetId && company === undefined) {
    return { valid: false, invalid: ['company'] };
  }
  return parsed;
};

/**
 * The widget configuration for companies only. `company` is "required in the legal-person flow", but the document does not
 * show what selects the flow. Here the widget configuration does. The client's other one serves both flows.
 */
export const companyWidgetOf = ({ widgetConfigId }: Client): string => `${widgetConfigId}-company`;
