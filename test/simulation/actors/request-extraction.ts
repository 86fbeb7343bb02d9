import { createExtraction } from '#lib/extraction/api/create-extraction.ts';
import type { ValidRequest } from '#lib/extraction/api/parse-request.ts';
import { seal } from '../models/sealing.ts';
import { lifeOf, timings } from '../world/settings.ts';
import { theCaller, theCredentials, theExtraction } from '../world/the-extraction.ts';
import type { World } from '../world/world.ts';
import { tablesFor } from './tables.ts';

const requestOf = ({ method, callersToken }: World['scenario']): ValidRequest => {
  if (method !== 'credentials') {
    const variant = method === 'consent-v1' ? 'v1' : 'v2';
    return {
      method: 'consent',
      product: 'movement',
      consentId: 'consent-1',
      variant,
      target: 'secret-target',
    };
  }
  const asked = { method, entity: 'bank', actions: [{ id: 'product-balance' }, { id: 'tef' }] } as const;
  return callersToken
    ? {
        ...asked,
        credentials: { mode: 'encrypted', value: 'secret-credentials' },
        sessionToken: 'secret-callers-token',
      }
    : { ...asked, credentials: { mode: 'raw', value: theCredentials } };
};

/** request-extraction: one POST of a caller. Calls `answered` with whether the caller got an answer. */
export const requestExtractionOf = (world: World) => {
  let requests = 0;
  return (caller: string, fingerprint: string, answered: (answered: boolean) => void): void => {
    const { kernel } = world;
    requests += 1;
    const requestId = `request-${requests}`;
    kernel.spawn(
      `intake of ${caller}`,
      lifeOf.intake,
      (process) => {
        world.receivers.set(requestId, process);
        const tables = tablesFor(world, process);
        const { requestExpiresAfter } = world.scenario;
        const expiry =
          requestExpiresAfter === undefined
            ? {}
            : { expiresAt: Math.floor(world.startedAt / 1_000 + requestExpiresAfter) };
        return createExtraction(
          {
            extractionId: theExtraction,
            requestedBy: theCaller,
            fingerprint,
            request: requestOf(world.scenario),
          },
          {
            ...tables,
            // It blocks nobody here. What it has counted is to be erased.
            repeats: {
              count: async (extractionId) => {
                const record = world.extractions.get(extractionId);
                if (record !== undefined) world.repeats.set(extractionId, record.requestId);
                return 'counted';
              },
              compared: async () => undefined,
            },
            requests: { ...tables.requests, put: (item) => tables.requests.put({ ...item, ...expiry }) },
            newRequestId: () => requestId,
            sendsWebhooks: world.scenario.webhook !== 'not requested',
            seal: (record, plaintext) =>
              kernel.call(process, { name: 'seal', kind: 'read', take: () => seal(record, plaintext) }),
            startExecution: (input) =>
              kernel.call<void>(process, {
                name: 'start execution',
                kind: 'write',
                take: () => world.startExecution(input),
              }),
            now: world.now,
            timings,
            telemetry: world.telemetry,
          },
        );
      },
      (end) => {
        if (end.kind === 'returned') {
          world.state('answered', { answer: end.value.kind, fingerprint });
        }
        answered(end.kind === 'returned');
      },
    );
  };
};
