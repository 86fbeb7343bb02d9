import * as v from 'valibot';
import { answerText, bearer } from '../transport/field-schemas.ts';
import { type Connection, endpointOf, requestAnswer } from '../transport/send-request.ts';

/** `url` is a temporary signed https URL of the PDF, valid for 5 minutes. Treat it as a secret. */
export type ConsentPdf = { readonly url: string };

/**
 * Somebody will open the URL. So it must be an https address, and not `javascript:` or `file:`. The sandbox, which has no https, may name
 * its own server.
 */
const isDownload = (baseUrl: string) => (url: string) => {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'https:' || parsed?.origin === new URL(baseUrl).origin;
};

/** "Response fields: not shown". Assumed: `url` inside `data`, as every consent call has `data`. Other fields are dropped. */
const answerSchema = ({ baseUrl }: Connection): v.GenericSchema<unknown, { data: ConsentPdf }> =>
  v.object({ data: v.object({ url: v.pipe(answerText, v.check(isDownload(baseUrl))) }) });

/** "Consent PDF". Endpoint, token and answer are assumptions. `Connection.endpoints` can replace the endpoint. */
export const getConsentPdf = async (
  connection: Connection,
  taskToken: string,
  consentId: string,
): Promise<ConsentPdf> => {
  const { data } = await requestAnswer(connection, answerSchema(connection), {
    ...endpointOf(connection, 'consentPdf'),
    ids: { consentId },
    headers: bearer(taskToken),
  });
  return data;
};
