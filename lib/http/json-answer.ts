import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A JSON answer that no cache may keep, because it shows a user's data. A status other than 200 and more headers may be given. */
export const jsonAnswer = (
  body: unknown,
  { statusCode = 200, headers = {} }: Pick<APIGatewayProxyStructuredResultV2, 'statusCode' | 'headers'> = {},
): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});
