import {
  createOtpToken,
  createTaskToken,
  getConsent,
  listConsents,
  pollExtraction,
  revokeConsent,
  startExtraction,
} from './answer-consent-flow.ts';
import { logIn, readTask, startTask } from './answer-tasks.ts';
import { type Call, type ProviderAnswer, type ProviderPorts, type ProviderRequest, Refused } from './call.ts';

type Route = readonly [
  method: string,
  path: RegExp,
  answer: (call: Call) => ProviderAnswer | Promise<ProviderAnswer>,
];

/** The endpoints of the provider that Cosecha calls. The groups are the variable parts of the path. */
const routes: readonly Route[] = [
  ['POST', /^\/api\/v1\/auth\/login$/, logIn],
  ['POST', /^\/api\/v2\/tasks$/, startTask],
  ['GET', /^\/api\/v2\/tasks\/([^/]+)$/, readTask],
  ['POST', /^\/api\/v1\/token\/otp\/create$/, createOtpToken],
  ['POST', /^\/api\/v1\/token\/task$/, createTaskToken],
  ['GET', /^\/api\/v1\/consents$/, listConsents],
  ['GET', /^\/api\/v1\/consents\/([^/]+)$/, getConsent],
  ['POST', /^\/api\/v1\/consents\/revoke$/, revokeConsent],
  ['POST', /^\/api\/(v[12])\/products\/retrieve-data\/tasks$/, startExtraction],
  ['GET', /^\/api\/(v[12])\/products\/retrieve-data\/tasks\/([^/]+)$/, pollExtraction],
];

const answerCall = async (request: ProviderRequest, ports: ProviderPorts): Promise<ProviderAnswer> => {
  for (const [method, path, answer] of routes) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match === null) continue;
    return await answer({
      request,
      ports,
      key: await ports.tokenKey(),
      now: ports.now(),
      params: match.slice(1),
    });
  }
  throw new Refused(404, 'UNKNOWN_ENDPOINT');
};

/** Answers one call to the provider's API. All state is in tokens and ids, so that nothing is stored. */
export const answerRequest = (request: ProviderRequest, ports: ProviderPorts): Promise<ProviderAnswer> =>
  answerCall(request, ports).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    return { status: error.status, body: { errorType: error.errorType } };
  });
