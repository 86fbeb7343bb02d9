/**
 * Loaded into every function of the deployment that is measured, with `NODE_OPTIONS=--import` set on the emulator, so
 * that bundles and template are the ones that go to AWS (docs/decisions/0005 has why this and not a proxy). It stands
 * between the AWS SDK and the network, and writes a line for each invocation (`Invocation`) into a file per process.
 *
 * DynamoDB is asked to say what each request consumes (`ReturnConsumedCapacity`). That breaks the signature, which
 * the emulator does not check without AUTH.
 */
import { appendFileSync } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import readline from 'node:readline';
import type { Call, Invocation } from './invocation.ts';
import { type OutgoingRequest, operationOf } from './operation-of.ts';

const directory = process.env.COSECHA_INVOCATIONS ?? '';

type Begun = {
  trigger: string | undefined;
  beganAt: number;
  began: number;
  cpu: NodeJS.CpuUsage;
  calls: Call[];
};

/** A function's process has one invocation at a time. */
let current: Begun | undefined;
let isCold = true;

/** The emulator hands each invocation to its worker as a line of JSON (ministack/core/lambda_runtime.py). */
const noteBegin = (line: string): void => {
  const { event } = JSON.parse(line) as { event?: { trigger?: string } };
  if (event === undefined) return;
  current = {
    trigger: event.trigger,
    beganAt: Date.now(),
    began: performance.now(),
    cpu: process.cpuUsage(),
    calls: [],
  };
};

/** The worker's answer, a line of JSON on standard output, ends the invocation. */
const noteEnd = (): void => {
  if (current === undefined) return;
  const { trigger, beganAt, began, calls } = current;
  const cpu = process.cpuUsage(current.cpu);
  const invocation: Invocation = {
    // Only the first line to the worker has the function's environment.
    functionName: process.env.POWERTOOLS_SERVICE_NAME ?? '',
    ...(trigger === undefined ? {} : { trigger }),
    cold: isCold,
    beganAt,
    wallMs: performance.now() - began,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    calls,
  };
  appendFileSync(join(directory, `${process.pid}.jsonl`), `${JSON.stringify(invocation)}\n`);
  current = undefined;
  isCold = false;
};

const noteInvocations = (): void => {
  const { createInterface } = readline;
  readline.createInterface = ((...args: Parameters<typeof createInterface>) => {
    const lines = createInterface(...args);
    lines.on('line', noteBegin);
    return lines;
  }) as typeof createInterface;
  const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
  process.stdout.write = ((...args: unknown[]) => {
    noteEnd();
    return write(...args);
  }) as typeof process.stdout.write;
};

type ConsumedCapacity = { readonly ConsumedCapacity?: { readonly CapacityUnits?: number } };

const noteCall = (
  operation: string,
  asked: { TableName?: string; IndexName?: string },
  answer: string,
): void => {
  const answerBytes = Buffer.byteLength(answer);
  if (asked.TableName === undefined) {
    current?.calls.push({ operation, writeUnits: 0, readUnits: 0, answerBytes });
    return;
  }
  const [, name = ''] = operation.split(' ');
  const units = (JSON.parse(answer) as ConsumedCapacity).ConsumedCapacity?.CapacityUnits ?? 0;
  const writes = name === 'PutItem' || name === 'UpdateItem';
  const table = asked.TableName === process.env.TASKS_TABLE ? 'Tasks' : 'Extractions';
  current?.calls.push({
    operation: `${asked.IndexName ?? table} ${name}`,
    writeUnits: writes ? units : 0,
    readUnits: writes ? 0 : units,
    answerBytes,
  });
};

/** Sees the body of an answer without taking it from the SDK, which begins to read it later. */
const whenRead = (message: IncomingMessage, then: (body: string) => void): void => {
  const chunks: Buffer[] = [];
  const push = message.push.bind(message);
  message.push = (chunk: Buffer | null) => {
    if (chunk === null) then(Buffer.concat(chunks).toString());
    else chunks.push(chunk);
    return push(chunk);
  };
};

type OnResponse = (message: IncomingMessage) => void;
type Request = (options: RequestOptions, onResponse?: OnResponse) => ClientRequest;

const recording = (original: Request): Request => {
  const recorded = (operation: string, options: RequestOptions, onResponse?: OnResponse): ClientRequest => {
    let asked = {};
    const request = original(options, (message) => {
      whenRead(message, (answer) => noteCall(operation, asked, answer));
      onResponse?.(message);
    });
    if (!operation.startsWith('DynamoDB')) return request;
    const end = request.end.bind(request) as (body: string) => ClientRequest;
    // The SDK hands over the whole body as it ends the request.
    request.end = ((body: Uint8Array) => {
      asked = JSON.parse(Buffer.from(body).toString()) as object;
      const more = JSON.stringify({ ...asked, ReturnConsumedCapacity: 'INDEXES' });
      request.setHeader('content-length', Buffer.byteLength(more));
      return end(more);
    }) as typeof request.end;
    return request;
  };
  return (...args) => {
    // The provider client calls with an address first, and is none of ours.
    const [options, onResponse] = args;
    const operation = operationOf(options as OutgoingRequest);
    return operation === undefined ? original(...args) : recorded(operation, options, onResponse);
  };
};

if (directory !== '') {
  noteInvocations();
  http.request = recording(http.request as Request) as typeof http.request;
  syncBuiltinESMExports();
}
