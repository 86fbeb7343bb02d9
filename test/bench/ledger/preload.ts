/**
 * Records the invocations of the measured functions. `NODE_OPTIONS=--import` loads it into every function, so that
 * bundles and template are those for AWS (docs/decisions/0005). Each process writes a line for each invocation into its
 * own file: its CPU time, and every request that it made.
 *
 * It only listens on Node's diagnostics channels (https://nodejs.org/api/diagnostics_channel.html#http), so that it does
 * not change the requests.
 */

import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { join } from 'node:path';
import {
  type Invocation,
  listenToInvocations,
} from '../../e2e/injected-failures/invocations-of-this-process.ts';
import type { Call, Entry } from './ledger.ts';

type Exchange = {
  readonly request: ClientRequest;
  readonly startedAt: number;
  readonly asked: Buffer[];
  readonly answered: Buffer[];
  response?: IncomingMessage;
  endedAt?: number;
};

let open:
  | { readonly line: string; readonly cpu: NodeJS.CpuUsage; readonly exchanges: Exchange[] }
  | undefined;
let isFirst = true;

/**
 * A clock that all processes share, because items are followed through the calls of all of them. `performance` has its own
 * origin in each process. On a busy machine these differed by 30 ms, because Node reads time and counter one after the
 * other (src/node_perf.cc).
 */
const now = Date.now;

/** Calls back with the chunks that `method` of `stream` is called with. */
const overhear = (stream: object, method: 'write' | 'end' | 'push', onChunk: (chunk: unknown) => void) => {
  const target = stream as Record<string, (...args: unknown[]) => unknown>;
  const original = target[method]?.bind(stream);
  target[method] = (...args) => {
    onChunk(args[0]);
    return original?.(...args);
  };
};

const keepIn = (chunks: Buffer[]) => (chunk: unknown) => {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
};

const onRequest = (message: unknown): void => {
  const { request } = message as { request: ClientRequest };
  if (open === undefined) return;
  const exchange: Exchange = { request, startedAt: now(), asked: [], answered: [] };
  open.exchanges.push(exchange);
  overhear(request, 'write', keepIn(exchange.asked));
  overhear(request, 'end', keepIn(exchange.asked));
};

const onResponse = (message: unknown): void => {
  const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
  const exchange = open?.exchanges.find((one) => one.request === request);
  if (exchange === undefined) return;
  exchange.response = response;
  const keep = keepIn(exchange.answered);
  overhear(response, 'push', (chunk) => {
    if (chunk === null) exchange.endedAt = now();
    else keep(chunk);
  });
};

const parsed = (chunks: readonly Buffer[]) =>
  JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>;

const callOf = ({ request, response, startedAt, endedAt, asked, answered }: Exchange): Call => {
  // In `Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, …` (SigV4).
  const signature = String(request.getHeader('authorization') ?? '');
  const service = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(signature)?.[1] ?? 'provider';
  const target = String(request.getHeader('x-amz-target') ?? '').split('.');
  return {
    service,
    operation: target.at(-1) || request.method,
    startedAt,
    endedAt: endedAt ?? now(),
    statusCode: response?.statusCode ?? 0,
    ...(service === 'dynamodb' ? { asked: parsed(asked), answered: parsed(answered) } : {}),
  };
};

const millisecondsOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

/** An event of the API, of the machine or an operator, messages of the reconcile queue, or records of the stream. */
type FunctionEvent = {
  readonly routeKey?: string;
  readonly trigger?: string;
  readonly extractionId?: string;
  readonly Records?: readonly { readonly body?: string }[];
};

/** The worker answers each line with one: `{"status": "ready" | "ok" | "error", …}`. */
const onAnswer = (chunk: unknown): void => {
  if (open === undefined || typeof chunk !== 'string' || !chunk.startsWith('{"status":')) return;
  const cpuMs = millisecondsOf(process.cpuUsage(open.cpu));
  const { event, ctx } = JSON.parse(open.line) as Invocation;
  const { routeKey, trigger, extractionId, Records: [message] = [] } = event as FunctionEvent;
  const queued: Record<string, string> = JSON.parse(message?.body ?? '{}');
  const entry: { readonly [Name in keyof Entry]: Entry[Name] | undefined } = {
    function: process.env.POWERTOOLS_SERVICE_NAME,
    memoryMB: Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE),
    requestId: ctx?.request_id,
    cpuMs,
    initCpuMs: isFirst ? millisecondsOf(open.cpu) : undefined,
    endedAt: now(),
    routeKey,
    trigger: queued.cause ?? trigger,
    extractionId: queued.extractionId ?? extractionId,
    calls: open.exchanges.map(callOf),
  };
  // Before the emulator gets the answer, so that the line exists when its effect is visible.
  appendFileSync(join(directory, `${process.pid}.jsonl`), `${JSON.stringify(entry)}\n`);
  [open, isFirst] = [undefined, false];
};

const directory = process.env.COSECHA_LEDGER ?? '';
if (directory !== '') {
  let isNamed = false;
  listenToInvocations((line) => {
    // The first line names the function.
    if (isNamed) open = { line, cpu: process.cpuUsage(), exchanges: [] };
    isNamed = true;
  });
  subscribe('http.client.request.created', onRequest);
  subscribe('http.client.response.finish', onResponse);
  overhear(process.stdout, 'write', onAnswer);
}
