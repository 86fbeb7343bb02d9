import { expect, inject } from 'vitest';
import { misfits, operations, responseOf } from '../../unit/docs/openapi-document.ts';

import { keepAnswer } from '../leaks/answers.ts';

/** `/consents/{consentId}/pdf` as a pattern of paths. */
const patternOf = (routeKey: string): RegExp =>
  new RegExp(`^${routeKey.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?.*)?$`);

/**
 * Holds an answer of the running service to docs/openapi.yaml: its status, its type and its body. What the route's
 * function did not answer, such as API Gateway's own 403 in plain JSON, is none of the document's.
 */
export const documented = async (method: string, path: string, answer: Response): Promise<Response> => {
  const type = answer.headers.get('content-type');
  const asked = `${method} ${path}`;
  const [route, operation] = operations.find(([routeKey]) => patternOf(routeKey).test(asked)) ?? [];
  const { status } = answer;
  const [headers, body] = [Object.fromEntries(answer.headers), await answer.clone().text()];
  keepAnswer(inject('cosecha').answersFile, { asked: route ?? asked, status, headers, body });
  if (type === null) return answer;
  const response = responseOf(operation?.responses[answer.status] ?? {});
  const media = response.content?.[type];
  if (media === undefined && type === 'application/json' && !answer.ok) return answer;
  const wrong = media === undefined ? 'not in docs/openapi.yaml' : misfits(media.schema, JSON.parse(body));
  expect([asked, answer.status, type, wrong]).toEqual([asked, answer.status, type, []]);
  return answer;
};
