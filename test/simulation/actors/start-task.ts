import type { Extraction } from '#lib/extraction/record.ts';
import type { SealedCredentialsData, SealedTargetData } from '#lib/extraction/sealed-request-data.ts';
import { startForMachine } from '#lib/extraction/start/start.ts';
import { type StartCall, startCallFrom } from '#lib/extraction/start/start-call.ts';
import type { StoredRequest } from '#lib/extraction/store.ts';
import type { StartAttempt } from '../world/machine.ts';
import type { Process, ProcessEnd } from '../world/process.ts';
import { lifeOf, settings, timings } from '../world/settings.ts';
import { fingerprintKey } from '../world/the-extraction.ts';
import type { World } from '../world/world.ts';
import { breakerFor } from './breakers.ts';
import { sendFor, sessionsFor, taskTokensFor, unsealFor, wakeFor } from './calls.ts';
import { startLineFor } from './line.ts';
import { tablesFor } from './tables.ts';

/** The start call of one process, for the request whose item it has found. */
const callFor = (
  world: World,
  process: Process,
  record: Extraction,
  stored: StoredRequest,
): Promise<StartCall> => {
  const { kernel, provider, scenario } = world;
  const unseal = unsealFor(world, process);
  const post = () => {
    world.state('startCall', { by: process, requestId: stored.requestId });
    return kernel.call(process, provider.startCall(record.extractionId));
  };
  const startCallFor = startCallFrom({
    unsealCredentials: unseal<SealedCredentialsData>,
    unsealTarget: unseal<SealedTargetData>,
    provider: {
      sessions: sessionsFor(world, process),
      taskTokens: taskTokensFor(world, process),
      startTask: post,
      startExtraction: { v1: post, v2: post },
      getConsent: async () => {
        process.isReadingConsent = true;
        try {
          return await kernel.call(process, provider.consent());
        } finally {
          process.isReadingConsent = false;
        }
      },
    },
    key: async () => fingerprintKey,
    keptDays: scenario.marks === undefined ? 0 : 7,
  });
  return startCallFor(record, stored);
};

/** start-task: one invocation by the machine. */
export const startTaskOf = (world: World) => {
  let invocations = 0;
  return (
    { input, token, number, entry, isReleased }: StartAttempt,
    ended: (end: ProcessEnd<unknown>) => void,
  ): void => {
    const { extractionId, requestId } = input;
    const { kernel } = world;
    invocations += 1;
    if (world.isOfLostRecord(requestId)) kernel.counted('start-task runs for an erased or lost record');
    kernel.spawn(
      `start-task ${invocations}`,
      lifeOf['start-task'],
      (process) =>
        startForMachine(
          { extractionId, requestId, callbackToken: token, callbackAttempt: number, entry, isReleased },
          {
            ...tablesFor(world, process),
            callFor: (record, stored) => callFor(world, process, record, stored),
            send: sendFor(world, process),
            wake: wakeFor(world, process, 'start-task'),
            fail: (callbackToken, error, cause) =>
              kernel.call<void>(process, {
                name: `fail the state with ${error}`,
                kind: 'write',
                take: () => world.execution?.failTask(callbackToken, error, cause),
              }),
            breaker: breakerFor(world, process),
            startLine: startLineFor(world, process),
            // No call of this world is slow: the outages have those.
            whenSlow: () => () => undefined,
            logIn: sessionsFor(world, process).renew,
            maxCallMs: settings.providerTimeoutMs,
            newAttemptId: () => {
              const attemptId = `attempt-${world.attempts.size + 1}`;
              world.attempts.set(attemptId, process);
              process.attemptIds.push(attemptId);
              return attemptId;
            },
            now: number === 0 ? world.now : world.laterNow,
            timings,
            telemetry: world.telemetry,
          },
        ),
      (end) => {
        if (end.kind === 'returned') {
          const conclusion = end.value?.conclusion ?? 'not-yet';
          world.returned.add(token);
          if (conclusion === 'awaits-webhook') world.linked.add(token);
          world.hasFinishedStart ||= conclusion !== 'not-yet';
        }
        ended(end);
      },
    );
  };
};
