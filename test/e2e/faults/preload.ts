/**
 * Loaded into every function of the deployment under test with `NODE_OPTIONS=--import`, set on the emulator, so
 * that bundles and template are the ones that go to AWS. It stands between the AWS SDK and the network, where a
 * fault can come before or after the service has acted; a proxy could not kill the process that asked.
 */
import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import http, { type ClientRequest, IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { urlToHttpOptions } from 'node:url';
import type { FaultRule } from './rule.ts';

const directory = process.env.COSECHA_FAULTS ?? '';

const headerOf = (options: RequestOptions, wanted: string): string => {
  const headers = (options.headers ?? {}) as Record<string, unknown>;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted);
  return String(found?.[1] ?? '');
};

/** The rule that this request meets, which is then used up. */
const meet = (operation: string, body: string): FaultRule | undefined => {
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const path = join(directory, file);
    try {
      const rule = JSON.parse(readFileSync(path, 'utf8')) as FaultRule;
      const fits = operation.includes(rule.operation) && rule.contains.every((text) => body.includes(text));
      if (!fits) continue;
      unlinkSync(path);
      return rule;
    } catch {
      // Somebody else met it first.
    }
  }
  return undefined;
};

const answerInstead = (status: number, errorType: string): IncomingMessage => {
  const message = new IncomingMessage(new Socket());
  message.statusCode = status;
  message.headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-errortype': errorType };
  message.push(JSON.stringify({ __type: errorType, message: 'A fault of the test.' }));
  message.push(null);
  return message;
};

const carryOut = (rule: FaultRule, respond: (message: IncomingMessage) => void): void => {
  if (rule.effect.kind === 'exit') process.exit(1);
  respond(answerInstead(rule.effect.status, rule.effect.errorType));
};

type OnResponse = (message: IncomingMessage) => void;
type Request = (options: RequestOptions, onResponse?: OnResponse) => ClientRequest;

const wrap = (original: Request): typeof https.request => {
  const wrapped: Request = (options, onResponse) => {
    const operation = `${headerOf(options, 'x-amz-target')} ${options.method} ${options.path}`;
    let after: FaultRule | undefined;
    const request = original(options, (message) => {
      if (after === undefined) {
        onResponse?.(message);
        return;
      }
      message.resume();
      carryOut(after, (instead) => onResponse?.(instead));
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
      const rule = meet(operation, `${options.path}\n${chunks.join('')}`);
      if (rule?.when === 'after') after = rule;
      if (rule?.when !== 'before') return end(chunk, ...rest);
      carryOut(rule, (instead) => {
        request.on('error', () => {});
        request.destroy();
        setImmediate(() => onResponse?.(instead));
      });
      return request;
    }) as typeof request.end;
    return request;
  };
  // Called with options by the AWS SDK, and with an address and options by the provider client.
  return ((...args: [string | URL, RequestOptions, OnResponse?] | [RequestOptions, OnResponse?]) => {
    const [first, ...rest] = args;
    if (typeof first !== 'string' && !(first instanceof URL)) return wrapped(first, rest[0] as OnResponse);
    const [options, onResponse] = rest as [RequestOptions, OnResponse?];
    return wrapped({ ...urlToHttpOptions(new URL(first)), ...options }, onResponse);
  }) as typeof https.request;
};

if (directory !== '') {
  http.request = wrap(http.request) as typeof http.request;
  https.request = wrap(https.request);
  syncBuiltinESMExports();
}
