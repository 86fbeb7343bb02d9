import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type ExtractionRequest, extractionsClient, NoAnswerError } from '#lib/client/index.ts';
import { newNationalId } from '../../sandbox/consents/national-id.ts';
import { limitParallelCalls } from '../../tools/cli/operate/limit-parallel-calls.ts';
import type { LocalSystem } from '../../tools/local/local-system.ts';
import { prepareRequest } from '../bench/benchmark-request.ts';
import { type PlannedFault, planFaultIn } from '../e2e/injected-failures/plan-fault.ts';
import type { Storm } from './draw-storm.ts';

type Request = Storm['requests'][number] & { readonly username: string; readonly body: ExtractionRequest };

/** A request that was accepted, refused, or answered with nothing but 5xx and 429. */
export type Sent = Request & { readonly extractionId?: string; readonly refused?: string };

/** What has been done of a storm so far. */
export type Done = {
  readonly sent: Sent[];
  readonly failures: { readonly isKill: boolean; readonly planned: PlannedFault }[];
};

/** The emulator starts a process for each concurrent call. More at once are not faster. */
const atOnce = limitParallelCalls(8);

/** Sets the plans of all users before the storm, as the sandbox's control interface is down in each restart. */
const prepare = async ({ provider }: LocalSystem, drawn: Storm['requests'][number], index: number) => {
  const { name, entity, byConsent, plan } = drawn;
  const username = byConsent ? newNationalId(10_000_000 + index) : name;
  const body = await prepareRequest(provider, { username, byConsent }, plan);
  return { ...drawn, username, body: byConsent ? body : { ...body, entity } };
};

const send = async ({ api }: LocalSystem, request: Request): Promise<Sent> => {
  const client = extractionsClient({ apiUrl: api.base, fetch: api.fetch });
  try {
    const idempotencyKey = request.name;
    const { extractionId } = (await client.requestExtraction(request.body, { idempotencyKey })).extraction;
    await client.getExtraction(extractionId).catch(() => undefined);
    return { ...request, extractionId };
  } catch (error) {
    if (error instanceof NoAnswerError) return request;
    if (!(error instanceof ApiError)) throw error;
    return error.isTransient ? request : { ...request, refused: error.message };
  }
};

const restart = async ({ provider }: LocalSystem, seconds: number, signal: AbortSignal): Promise<void> => {
  await provider.expireTokens();
  await provider.goDown(seconds);
  await delay(seconds * 1_000, undefined, { signal });
  const isUp = () => provider.summary().then(Boolean, () => false);
  while (!(await isUp())) await delay(200, undefined, { signal });
};

/** Does all that was drawn, then ends every fault. Resolves when all requests are answered. */
export const runStorm = async (
  system: LocalSystem,
  storm: Storm,
  { sent, failures }: Done,
  { faults, signal }: { readonly faults: string; readonly signal: AbortSignal },
): Promise<void> => {
  const requests = await Promise.all(storm.requests.map((one, index) => prepare(system, one, index)));
  const startedAt = Date.now();
  /** Does each event at its time, or after the one before it, if that takes longer. */
  const follow = async <E extends { readonly at: number }>(
    events: readonly E[],
    act: (event: E) => unknown,
  ) => {
    for (const event of events) {
      await delay(Math.max(0, startedAt + event.at - Date.now()), undefined, { signal });
      await act(event);
    }
  };
  const sending: Promise<unknown>[] = [];
  const sendOne = (one: Request) => atOnce(async () => sent.push(await send(system, one)));
  await Promise.all([
    follow(requests, (one) => {
      sending.push(...Array.from({ length: one.copies }, () => sendOne(one)));
    }),
    follow(storm.troubles, (one) =>
      'fault' in one ? system.provider.setFaults([one.fault]) : restart(system, one.restartSeconds, signal),
    ),
    follow(storm.failures, async ({ rule }) => {
      failures.push({ isKill: rule.effect.kind === 'exit', planned: await planFaultIn(faults, rule) });
    }),
  ]);
  await system.provider.setFaults([]);
  await Promise.all(sending);
};
