import * as v from 'valibot';
import { bearer } from './bearer.ts';
import { checkRequest } from './check-request.ts';
import { type Consent, consentSchema } from './consent.ts';
import { fillPath } from './endpoint.ts';
import { requestAnswer } from './parse-answer.ts';
import { consentIdInPath } from './request-fields.ts';
import type { Connection } from './send-request.ts';

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
