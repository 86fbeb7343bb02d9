import * as v from 'valibot';
import { checkRequest } from '../transport/check-request.ts';
import { fillPath } from '../transport/endpoint-path.ts';
import { requestAnswer } from '../transport/parse-answer.ts';
import { bearer, consentIdInPath } from '../transport/request-field-schemas.ts';
import type { Connection } from '../transport/send-request.ts';
import { type Consent, consentSchema } from './consent.ts';

const route = '/api/v1/consents/{consentId}';
const answerSchema = v.object({ data: consentSchema });

/** "Get consent". */
export const getConsent = async (
  connection: Connection,
  taskToken: string,
  consentId: string,
): Promise<Consent> => {
  checkRequest(consentIdInPath, { consentId }, route);
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'GET',
    path: fillPath(route, { consentId }),
    route,
    headers: bearer(taskToken),
  });
  return data;
};
