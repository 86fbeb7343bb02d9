import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problem } from '../../http/problem.ts';
import { NotConfigured } from '../../not-configured.ts';
import { count, log, logFailure } from '../../observability/observability.ts';

/**
 * Middleware that answers what a handler throws: 503 for NotConfigured, 500 for everything else. The log has the
 * error; the answer never repeats it.
 */
export const answerFailures = (): MiddlewareObj<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2
> => ({
  onError: (request) => {
    const { error } = request;
    if (error instanceof NotConfigured) {
      if (error.what === 'secret') count('SecretNotFilled');
      log.error(error.message);
      request.response = problem('unavailable');
    } else {
      logFailure('The request failed.', error);
      request.response = problem('internal');
    }
  },
});
