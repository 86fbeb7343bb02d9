import * as v from 'valibot';
import { answerText } from '../transport/answer-fields.ts';
import { bearer } from '../transport/bearer.ts';
import { checkRequest } from '../transport/check-request.ts';
import { endpointOf, fillPath } from '../transport/endpoint.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { consentIdInPath } from '../transport/request-fields.ts';
import type { Connection } from '../transport/send-request.ts';

/** `url`: a temporary signed URL of the PDF, valid 5 minutes. It is a secret for as long. */
export type ConsentPdf = { readonly url: string };

/** "Response fields: not shown": the name that a URL has, inside `data` as in every consent call. */
const answerSchema: v.GenericSchema<unknown, { data: ConsentPdf }> = v.looseObject({
  data: v.looseObject({ url: answerText }),
});

/** "Consent PDF". Endpoint, token and answer are assumptions; the endpoint is a setting of the connection. */
export const getConsentPdf = async (
  connection: Connection,
  taskToken: string,
  consentId: string,
): Promise<ConsentPdf> => {
  const { method, path } = endpointOf(connection, 'consentPdf');
  checkRequest(consentIdInPath, { consentId }, path);
  const { data } = await requestAnswer(connection, answerSchema, {
    method,
    path: fillPath(path, { consentId }),
    route: path,
    headers: bearer(taskToken),
  });
  return data;
};
