import { samples } from '../../assumptions.ts';

/** What the access log says of a request; what is left out here is as API Gateway writes it for one that went well. */
export type Request = { readonly routeKey: string; readonly isSigned: boolean };

const extractionId = '01a1fe07-9745-75b1-b891-0d0d5703db17';

const valueIn = (variable: string, { routeKey, isSigned }: Request): string => {
  const [method = '', path = ''] = routeKey.split(' ');
  const values: Readonly<Record<string, string>> = {
    requestId: samples.apiRequestId,
    requestTime: '01/Jan/2026:12:00:00 +0000',
    requestTimeEpoch: '1767268800000',
    routeKey,
    path: path.replaceAll(/\{\w+\}/g, extractionId),
    httpMethod: method,
    status: '200',
    responseLength: '1024',
    responseLatency: '123',
    integrationLatency: '120',
    integrationStatus: '200',
    'identity.sourceIp': samples.sourceIp,
    'identity.userArn': isSigned ? samples.callerArn : '-',
  };
  // A variable without a value is written as "-".
  return values[variable] ?? '-';
};

/**
 * The bytes of a line of the API's access log in the format that the template configures.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
 */
export const accessLogBytes = (format: string, request: Request): number =>
  Buffer.byteLength(
    format.replaceAll(/\$context\.([\w.]+)/g, (_, variable: string) => valueIn(variable, request)),
  ) + 1;
