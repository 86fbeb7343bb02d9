import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problem } from '../../http/problem.ts';
import { count, log, logFailure } from '../../observability/observability.ts';
import { SecretNotFilled } from '../read-secret.ts';
import { SettingMissing } from './environment.ts';

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
      count('SecretNotFilled');
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
