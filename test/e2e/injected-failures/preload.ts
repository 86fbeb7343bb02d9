/**
 * Injects the planned faults into the functions under test. The emulator's `NODE_OPTIONS=--import` loads it into every
 * function, so that bundles and template are those for AWS. It works between the AWS SDK and the network, where a fault
 * can come before or after the service has acted. A proxy could not kill the calling process. It also limits a test's
 * sweep to the records of that test, and extends the timeouts of calls to AWS.
 */
import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import http, { type ClientRequest, IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FaultRule } from './fault-rule.ts';
import { type Invocation, listenToInvocations } from './invocations-of-this-process.ts';
import { reportExit } from './report-exit.ts';
import { stretchAwsTimeouts } from './stretch-aws-timeouts.ts';
import { inScope, sweepScope } from './sweep-scope.ts';

const directory = process.env.COSECHA_FAULTS ?? '';

/** The event of the latest invocation. A function's process has one invocation at a time. */
let invocation: unknown;
let invocationText = '';

const headerOf = (options: RequestOptions, wanted: string): string => {
  const headers = (options.headers ?? {}) as Record<string, unknown>;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted);
  return String(found?.[1] ?? '');
};

const fits = (rule: FaultRule, operation: string, body: string): boolean =>
  operation.includes(rule.operation) &&
  (rule.contains ?? []).every((part) => body.includes(part)) &&
  (rule.during ?? []).every((part) => invocationText.includes(part));

/** The rule to inject into this request, if any. */
const takeRule = (operation: string, body: string): FaultRule | undefined => {
  for (const file of readdirSync(directory)) {
    const path = join(directory, file);
    try {
      const rule = JSON.parse(readFileSync(path, 'utf8')) as FaultRule;
      if (!fits(rule, operation, body)) continue;
      unlinkSync(path);
      return rule;
    } catch {
      // Another process took it first, or it is only half written.
    }
  }
  return undefined;
};

const sentence = 'A failure injected by the test.';

type Answer = Extract<FaultRule['effect'], { readonly kind: 'answer' }>;

/** S3 answers in XML, the other services that the functions call in JSON. */
const answerInstead = ({ status, errorType }: Answer, isJson: boolean): IncomingMessage => {
  const message = new IncomingMessage(new Socket());
  message.statusCode = status;
  message.headers = isJson
    ? { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-errortype': errorType }
    : { 'content-type': 'application/xml' };
  message.push(
    isJson
      ? JSON.stringify({ __type: errorType, message: sentence })
      : `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${errorType}</Code><Message>${sentence}</Message></Error>`,
  );
  message.push(null);
  return message;
};

/** The service's answer with another body. */
const answerWith = (original: IncomingMessage, body: string): IncomingMessage => {
  const message = new IncomingMessage(new Socket());
  message.statusCode = original.statusCode ?? 200;
  const { 'content-length': _length, 'x-amz-crc32': _checksum, ...headers } = original.headers;
  message.headers = headers;
  message.push(body);
  message.push(null);
  return message;
};

type OnResponse = (message: IncomingMessage) => void;

/** Ends the process. Its current request is neither sent nor answered. */
const exitProcess = async (): Promise<void> => {
  await reportExit(invocation);
  process.exit(1);
};

const wrap = (original: typeof https.request): typeof https.request => {
  const wrapped = (options: RequestOptions, onResponse?: OnResponse): ClientRequest => {
    const target = headerOf(options, 'x-amz-target');
    const operation = `${target} ${options.method} ${options.path}`;
    const isJson = target !== '';
    let after: FaultRule | undefined;
    const pass = async (message: IncomingMessage): Promise<void> => {
      const only = operation.includes('DynamoDB_20120810.Query') ? sweepScope(invocation) : undefined;
      onResponse?.(only === undefined ? message : answerWith(message, inScope(await text(message), only)));
    };
    const request = original(options, (message) => {
      if (after === undefined) {
        void pass(message);
        return;
      }
      message.resume();
      if (after.effect.kind === 'exit') void exitProcess();
      else onResponse?.(answerInstead(after.effect, isJson));
    });

    const chunks: string[] = [];
    const write = request.write.bind(request) as (chunk: unknown, ...rest: unknown[]) => boolean;
    const end = request.end.bind(request) as (chunk?: unknown, ...rest: unknown[]) => ClientRequest;
    request.write = ((chunk: unknown, ...rest: unknown[]) => {
      chunks.push(Buffer.from(chunk as Uint8Array).toString('utf8'));
      return write(chunk, ...rest);
    }) as typeof request.write;
    request.end = ((chunk?: unknown, ...rest: unknown[]) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array)
        chunks.push(Buffer.from(chunk).toString());
      const rule = takeRule(operation, `${options.path}\n${chunks.join('')}`);
      if (rule?.when === 'after') after = rule;
      if (rule?.when !== 'before') return end(chunk, ...rest);
      const { effect } = rule;
      if (effect.kind === 'exit') {
        void exitProcess();
        return request;
      }
      // The SDK must see the answer, and not the end of a request that was never sent.
      request.removeAllListeners('error').on('error', () => {});
      request.destroy();
      setImmediate(() => onResponse?.(answerInstead(effect, isJson)));
      return request;
    }) as typeof request.end;
    return request;
  };
  // The AWS SDK passes options. The provider client passes an address, and its calls are never made to fail.
  return ((first: string | URL | RequestOptions, ...rest: [RequestOptions, OnResponse] | [OnResponse]) =>
    typeof first === 'string' || first instanceof URL
      ? original(first, ...(rest as [RequestOptions, OnResponse]))
      : wrapped(first, ...(rest as [OnResponse]))) as typeof https.request;
};

if (directory !== '') {
  stretchAwsTimeouts();
  listenToInvocations((line) => {
    invocation = (JSON.parse(line) as Partial<Invocation>).event;
    invocationText = JSON.stringify(invocation) ?? '';
  });
  http.request = wrap(http.request);
  https.request = wrap(https.request);
  syncBuiltinESMExports();
}
