import { expect, inject } from 'vitest';
import { closedSchemaViolations, operations, responseOf } from '../../unit/docs/openapi-document.ts';
import { keepAnswer } from '../leaks/kept-answers.ts';

/** `/consents/{consentId}/pdf` as a pattern of paths. */
const patternOf = (routeKey: string): RegExp =>
  new RegExp(`^${routeKey.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?.*)?$`);

/**
 * Checks an answer of the running service against docs/openapi.yaml: status, content type and body. Answers of API
 * Gateway itself, such as its 403 in plain JSON, are not in the document and pass. Returns the answer.
 */
export const checkAgainstOpenapi = async (
  method: string,
  path: string,
  answer: Response,
): Promise<Response> => {
  const type = answer.headers.get('content-type');
  const called = `${method} ${path}`;
  const [route, operation] = operations.find(([routeKey]) => patternOf(routeKey).test(called)) ?? [];
  const { status } = answer;
  const [headers, body] = [Object.fromEntries(answer.headers), await answer.clone().text()];
  keepAnswer(inject('cosecha').answersFile, { request: route ?? called, status, headers, body });
  if (type === null) return answer;
  const response = responseOf(operation?.responses[answer.status] ?? {});
  const media = response.content?.[type];
  if (media === undefined && type === 'application/json' && !answer.ok) return answer;
  const violations =
    media === undefined ? 'not in docs/openapi.yaml' : closedSchemaViolations(media.schema, JSON.parse(body));
  expect([called, answer.status, type, violations]).toEqual([called, answer.status, type, []]);
  return answer;
};
