import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { defined } from '../defined.ts';
import { type CallerContext, identifyCaller } from '../http/caller-and-trace.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { parseRequestBody, refuseBody } from '../http/parse-request-body.ts';
import { problem } from '../http/problem.ts';
import { describeError } from '../observability/describe-error.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { getConsent } from '../provider/consents/get-consent.ts';
import { getConsentPdf } from '../provider/consents/get-consent-pdf.ts';
import { listConsents } from '../provider/consents/list-consents.ts';
import { revokeConsent } from '../provider/consents/revoke-consent.ts';
import { isNationalId } from '../provider/national-id.ts';
import {
  createLegalPersonOtpToken,
  createOtpToken,
  type OtpToken,
} from '../provider/tokens/create-otp-token.ts';
import type { WithApiKey } from '../provider/tokens/session-tokens.ts';
import { type TaskTokens, withTaskToken } from '../provider/tokens/task-tokens.ts';
import { ProviderError } from '../provider/transport/errors.ts';
import type { Connection } from '../provider/transport/send-request.ts';
import { explainProviderFailure } from './explain-provider-failure.ts';
import { parseSessionRequest, type SessionRequest } from './parse-session-request.ts';

export type ConsentDeps = {
  readonly connection: Connection;
  readonly taskTokens: TaskTokens;
  readonly withApiKey: WithApiKey;
  /** These two throw NotConfigured if a setting is missing. */
  readonly clientId: () => string;
  readonly widgetConfigId: () => string;
  readonly telemetry: Pick<Telemetry, 'log'>;
};

export type ConsentEvent = {
  readonly routeKey: string;
  readonly requestContext: CallerContext;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly pathParameters?: Readonly<Record<string, string | undefined>>;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
};

type Answer = APIGatewayProxyStructuredResultV2;

/** A session request has a few hundred bytes. */
const bodyLimitBytes = 16 * 1024;

const invalid = (detail: string): Answer => problem('invalid-request', { detail });

const openSession = async (request: SessionRequest, deps: ConsentDeps): Promise<OtpToken> => {
  const settings = { clientId: deps.clientId(), widgetConfigId: deps.widgetConfigId() };
  return deps.withApiKey((apiKey) =>
    request.person === 'legal'
      ? createLegalPersonOtpToken(deps.connection, apiKey, { ...request.input, ...settings })
      : createOtpToken(deps.connection, apiKey, { ...request.input, ...settings }),
  );
};

const postSession = async (event: ConsentEvent, target: string, deps: ConsentDeps): Promise<Answer> => {
  const body = parseRequestBody(event, bodyLimitBytes);
  if (body.kind !== 'json') return refuseBody(body, bodyLimitBytes);
  const parsed = parseSessionRequest(body.json, target);
  if (parsed.kind === 'invalid') return problem('invalid-request', { errors: parsed.violations });
  const { otpToken, consentId } = await openSession(parsed.request, deps);
  return jsonAnswer(
    { otpToken, consentId },
    { statusCode: 201, headers: { location: `/consents/${encodeURIComponent(consentId)}` } },
  );
};

/** A number from 1, with few enough digits to be exact. The provider checks upper bounds ("upper bounds of `limit`: not shown"). */
const wholeNumber = /^[1-9]\d{0,8}$/;
const numberIn = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** Answers `GET /consents?page=…&limit=…`. The provider's defaults are 1 and 10. */
const list = async (event: ConsentEvent, target: string, deps: ConsentDeps): Promise<Answer> => {
  const { page, limit, ...others } = event.queryStringParameters ?? {};
  // Unknown parameters are refused. Otherwise a misspelt `page` would return the first page every time.
  if (Object.keys(others).length > 0) return invalid('Only page and limit are allowed as query parameters.');
  for (const [name, text = '1'] of Object.entries({ page, limit })) {
    if (!wholeNumber.test(text)) return invalid(`The query parameter ${name} must be a whole number from 1.`);
  }
  const query = defined({ page: numberIn(page), limit: numberIn(limit) });
  return jsonAnswer(
    await withTaskToken(deps.taskTokens, target, (token) => listConsents(deps.connection, token, query)),
  );
};

/** Answers a route that makes one call about one consent. */
const answerWith =
  (call: (connection: Connection, taskToken: string, consentId: string) => Promise<unknown>) =>
  async (event: ConsentEvent, target: string, deps: ConsentDeps): Promise<Answer> => {
    const consentId = event.pathParameters?.consentId ?? '';
    return jsonAnswer(
      await withTaskToken(deps.taskTokens, target, (token) => call(deps.connection, token, consentId)),
    );
  };

const routes = {
  'POST /consent-sessions': { about: 'user', answer: postSession },
  'GET /consents': { about: 'user', answer: list },
  'GET /consents/{consentId}': { about: 'consent', answer: answerWith(getConsent) },
  'GET /consents/{consentId}/pdf': { about: 'consent', answer: answerWith(getConsentPdf) },
  'POST /consents/{consentId}/revoke': { about: 'consent', answer: answerWith(revokeConsent) },
} as const;

/** `infra/` created a route that this function does not have. */
class UnknownRoute extends Error {
  override readonly name = 'UnknownRoute';
}

const isRoute = (key: string): key is keyof typeof routes => Object.hasOwn(routes, key);

/**
 * Answers one request about a user's consents. It validates the request, makes the provider's call, and maps a failure to a problem. It
 * keeps only the user's Task Token, and for a short time. Throws UnknownRoute, NotConfigured and the SDK's errors.
 */
export const answerConsentRequest = async (event: ConsentEvent, deps: ConsentDeps): Promise<Answer> => {
  if (!isRoute(event.routeKey)) throw new UnknownRoute('There is no such route.');
  const identified = identifyCaller(event.requestContext);
  if (identified.kind === 'refused') return identified.answer;
  // The person or company whose consents are read or changed. It is a header because URLs end up in access logs.
  const target = event.headers['cosecha-target'];
  if (target === undefined) {
    return invalid(
      'The header Cosecha-Target is required. It names the person or company whose consents these are.',
    );
  }
  if (!isNationalId(target)) {
    return invalid('The header Cosecha-Target must be a national id with its check digit.');
  }
  const { about, answer } = routes[event.routeKey];
  try {
    return await answer(event, target, deps);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // The error's message contains the call and the status, and no value of request or answer.
    deps.telemetry.log(error.message, { failure: describeError(error) }, 'warn');
    return explainProviderFailure(error, about);
  }
};
