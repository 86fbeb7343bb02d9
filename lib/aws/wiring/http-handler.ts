import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problem } from '../../http/problem.ts';
import { NotConfigured } from '../../not-configured.ts';
import {
  type endAtTimeout,
  observability,
  reportNotConfigured,
  telemetry,
} from '../../observability/powertools-telemetry.ts';
import { Throttled } from '../step-functions.ts';

/** Adds the id that the function's log has for this request (`function_request_id`), so that a caller can quote it. */
const withRequestId = (
  answer: APIGatewayProxyStructuredResultV2,
  requestId: string,
): APIGatewayProxyStructuredResultV2 => {
  if ((answer.statusCode ?? 0) < 500) return answer;
  return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body ?? '{}'), requestId }) };
};

const answerTo = (error: unknown): APIGatewayProxyStructuredResultV2 => {
  if (error instanceof NotConfigured) {
    reportNotConfigured(error);
    // The name of a setting is not secret, and the caller may be the one who sets it.
    return error.what === 'setting'
      ? problem('setting-missing', { detail: error.message })
      : problem('unavailable');
  }
  if (error instanceof Throttled) {
    telemetry.log(error.message, {}, 'warn');
    return problem('unavailable');
  }
  telemetry.failure('The request failed.', error);
  return problem('internal');
};

const answerFailures: MiddlewareObj<unknown, APIGatewayProxyStructuredResultV2> = {
  after: (request) => {
    if (request.response) request.response = withRequestId(request.response, request.context.awsRequestId);
  },
  onError: (request) => {
    request.response = withRequestId(answerTo(request.error), request.context.awsRequestId);
  },
};

/**
 * The handler of a function for API Gateway. It answers an error that `answer` throws: 503 for a secret without a value and for Throttled,
 * 501 for a missing setting, and 500 for all others. The log has the error, and the answer never repeats it. Every 5xx contains the id of
 * the request. Without `endAtTimeout` it also answers shortly before the timeout of Lambda.
 */
export const httpHandler = <Event = APIGatewayProxyEventV2WithIAMAuthorizer>(
  answer: (event: Event) => Promise<APIGatewayProxyStructuredResultV2>,
  options?: typeof endAtTimeout,
) =>
  middy<Event, APIGatewayProxyStructuredResultV2>(options)
    .use(observability())
    .use(answerFailures)
    .handler(answer);
