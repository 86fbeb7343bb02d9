import { samples } from '../../assumptions.ts';
import type { Facts } from '../template-facts.ts';

const requestId = '01a1fe07-9745-75b1-b891-0d0d5703db17';
const extractionId = requestId;

/** The bytes that Lambda logs for a warm invocation in the format Text: START, END and REPORT. */
export const platformLogBytes = (billedMs: number, memoryMB: number): number =>
  Buffer.byteLength(
    `START RequestId: ${requestId} Version: $LATEST\nEND RequestId: ${requestId}\n` +
      `REPORT RequestId: ${requestId}\tDuration: ${(billedMs - 0.5).toFixed(2)} ms\tBilled Duration: ${billedMs} ms\t` +
      `Memory Size: ${memoryMB} MB\tMax Memory Used: 90 MB\t\n`,
  );

/**
 * The bytes that the Node runtime logs for an error that a handler throws: time, request id, level, and an object with name
 * and message (the runtime's `Errors.js`) of our most common error, with the stack frames if any.
 */
export const thrownErrorBytes = (failed: boolean, stackBytes: number): number => {
  const error = { errorType: 'NotYet', errorMessage: 'still-running', stack: ['NotYet: still-running'] };
  const line = `2026-01-01T12:00:00.000Z\t${requestId}\tERROR\tInvoke Error \t${JSON.stringify(error)}\n`;
  return failed ? Buffer.byteLength(line) + stackBytes : 0;
};

/**
 * The bytes of a line of the API's access log in the template's format, for a successful request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
 */
export const accessLogBytes = (
  { accessLogFormat, signedRoutes }: Pick<Facts, 'accessLogFormat' | 'signedRoutes'>,
  routeKey: string,
): number => {
  const values: Readonly<Record<string, string>> = {
    requestId: samples.apiRequestId,
    requestTime: '01/Jan/2026:12:00:00 +0000',
    routeKey,
    path: (routeKey.split(' ')[1] ?? '').replaceAll(/\{\w+\}/g, extractionId),
    status: '200',
    responseLength: '1024',
    responseLatency: '123',
    'identity.sourceIp': samples.sourceIp,
    'identity.userArn': signedRoutes.includes(routeKey) ? samples.callerArn : '-',
  };
  // A variable without a value is written as "-".
  const line = accessLogFormat.replaceAll(/\$context\.([\w.]+)/g, (_, name) => values[name] ?? '-');
  return Buffer.byteLength(`${line}\n`);
};

/**
 * The bytes that Step Functions logs for a history event, at the level ERROR and without data.
 * https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html ("Log levels", and its example of a line)
 */
export const machineLogBytes = (type: string): number =>
  /(Failed|TimedOut|Aborted)$/.test(type)
    ? Buffer.byteLength(
        JSON.stringify({
          id: '5',
          type,
          details: { resource: 'invoke', resourceType: 'lambda' },
          previous_event_id: '4',
          event_timestamp: '1767268800000',
          execution_arn: samples.executionArn,
          redrive_count: '0',
        }),
      )
    : 0;
