import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { SettingMissing } from '../aws/environment.ts';
import { SecretNotFilled } from '../aws/read-secret.ts';
import { log, logFailure, observe } from '../observability/observability.ts';
import { problem } from './problem.ts';

/**
 * Answers what nobody caught, so that a caller, or the provider, knows to come back: 503 while a secret is not
 * filled or a setting not given, 500 otherwise. What went wrong is in the log and never in the answer.
 */
export const answerFailures = (): MiddlewareObj<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2
> => ({
  onError: (request) => {
    if (request.error instanceof SecretNotFilled) {
      observe('SecretNotFilled');
      log.error(request.error.message);
      request.response = problem('unavailable');
    } else if (request.error instanceof SettingMissing) {
      log.error(request.error.message);
      request.response = problem('unavailable');
    } else {
      logFailure('The request failed.', request.error);
      request.response = problem('internal');
    }
  },
});
