import type { BreakerName } from '../../../lib/breaker/breaker-state.ts';
import {
  type Attempt,
  alsoCountingFor,
  type CircuitBreaker,
  createCircuitBreaker,
} from '../../../lib/breaker/circuit-breaker.ts';
import {
  type ExecutionInput,
  type RequestInput,
  requestExtraction,
} from '../../../lib/extraction/api/request-extraction.ts';
import { countReads } from '../../../lib/extraction/reconcile/count-reads.ts';
import { findSealedTarget } from '../../../lib/extraction/reconcile/find-sealed-target.ts';
import { guardReads, type ReadTask, tokensFor } from '../../../lib/extraction/reconcile/guard-reads.ts';
import { readingOfExtraction, readTaskWith } from '../../../lib/extraction/reconcile/reading.ts';
import { reconcileAndContinue } from '../../../lib/extraction/reconcile/reconcile.ts';
import { answerReconcile } from '../../../lib/extraction/reconcile/reconcile-event.ts';
import {
  type BatchAnswer,
  type ReceivedMessage,
  reconcileMessages,
} from '../../../lib/extraction/reconcile/reconcile-messages.ts';
import type { ReconcileCaller } from '../../../lib/extraction/reconcile/steps.ts';
import type { ReconcileMessage } from '../../../lib/extraction/reconcile-message.ts';
import type { Extraction, TerminalStatus } from '../../../lib/extraction/record.ts';
import { recordDelivery } from '../../../lib/extraction/record-delivery.ts';
import type { SealedRequestData } from '../../../lib/extraction/sealed-request-data.ts';
import { callByConsent, callByCredentials } from '../../../lib/extraction/start/start-call.ts';
import { startForMachine } from '../../../lib/extraction/start/start-for-machine.ts';
import { sweep } from '../../../lib/extraction/sweep.ts';
import { cacheSessionTokens } from '../../../lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens, tokensOf } from '../../../lib/provider/tokens/task-tokens.ts';
import { withSession } from '../../../lib/provider/tokens/with-session.ts';
import { breakerStoreOver, closedCircuit } from '../../support/memory-breaker-store.ts';
import { extractionStoreOver } from '../../support/memory-extraction-store.ts';
import { taskStoreOver } from '../../support/memory-task-store.ts';
import type { Process } from './process.ts';
import type { Service } from './service.ts';
import { breakerSettings, settings, timings } from './settings.ts';

/** As in functions/sweep-extractions.ts. */
const reserveMs = 15_000;

const breakerOf = (service: Service, process: Process, name: BreakerName): CircuitBreaker =>
  service.population.withoutBreaker === true
    ? closedCircuit
    : createCircuitBreaker({
        name,
        store: breakerStoreOver(service.breakers, process.carryOut),
        settings: breakerSettings[name],
        now: service.now,
        newId: () => `${process.name}/${service.newName('id')}`,
        schedule: process.schedule,
        telemetry: service.telemetry,
      });

/**
 * The functions in one process, with its caches. What lib/aws/wiring builds from the environment is built here over memory;
 * all else is the code of the product. No other file of the populations knows how a breaker is used.
 */
export const functionsIn = (service: Service, process: Process) => {
  const { provider, now, telemetry } = service;
  const breakers = {
    starts: breakerOf(service, process, 'starts'),
    reads: breakerOf(service, process, 'reads'),
  };
  const otherBreaker = process.kind === 'start-task' ? breakers.reads : breakers.starts;
  const sessions = cacheSessionTokens({
    logIn: alsoCountingFor(otherBreaker, () => provider.logIn(process)),
    lifetimeMs: settings.sessionMinutes * 60_000,
    now,
  });
  const taskTokens = cacheTaskTokens({
    create: (target) => provider.createTaskToken(process, target),
    lifetimeMs: settings.taskTokenMinutes * 60_000,
    now,
  });
  const deps = {
    extractions: extractionStoreOver(service.extractions, process.carryOut),
    tasks: taskStoreOver(service.tasks, process.carryOut),
    send: async (message: ReconcileMessage, seconds = 0) => {
      await process.wait(5);
      service.queue.accept(message, seconds);
    },
    wake: async (callbackToken: string) => {
      await process.wait(5);
      return service.answer(callbackToken, undefined) ? ('woken' as const) : ('gone' as const);
    },
    now,
    timings,
    telemetry,
  };

  /** KMS binds a ciphertext to its extraction. */
  const unseal = async <Plaintext extends SealedRequestData>(
    extractionId: string,
    sealed: string,
  ): Promise<Plaintext> => {
    const [sealedFor, plaintext = ''] = sealed.split('|');
    if (sealedFor !== extractionId) throw new Error('InvalidCiphertextException');
    return JSON.parse(plaintext);
  };
  const callFor = async (record: Extraction, sealed: string) => {
    const startTask = () => provider.startTask(process);
    return record.method === 'consent'
      ? callByConsent(record, await unseal(record.extractionId, sealed), {
          taskTokens,
          startExtraction: { v1: startTask, v2: startTask },
        })
      : callByCredentials(record, await unseal(record.extractionId, sealed), { sessions, startTask });
  };
  const readByConsent = async (extractionId: string, taskId: string, attempt: Attempt) => {
    const readInput = async () => ({ sealed: service.executions.get(extractionId)?.sealed ?? '' });
    const sealed = await findSealedTarget(extractionId, taskId, { tasks: deps.tasks, readInput });
    const { target } = await unseal<{ target: string }>(extractionId, sealed);
    return withSession(tokensFor(tokensOf(taskTokens, target), attempt), (token) =>
      attempt.make(() => provider.readExtraction(process, token, taskId)),
    );
  };
  const read: ReadTask = async (record, taskId, attempt) =>
    record.method === 'consent'
      ? readingOfExtraction(await readByConsent(record.extractionId, taskId, attempt))
      : withSession(tokensFor(sessions, attempt), () =>
          attempt.make(() => readTaskWith(() => provider.readTask(process, taskId))),
        );
  const reconcileDeps = {
    ...deps,
    storeResults: async (extractionId: string, bytes: Uint8Array) => {
      await process.wait(20);
      const text = new TextDecoder().decode(bytes);
      return { bucket: 'results', key: `${extractionId}/${text}`, bytes: bytes.byteLength, sha256: text };
    },
  };
  const reconcile = (extractionId: string, caller: ReconcileCaller) =>
    reconcileAndContinue(extractionId, caller, {
      ...reconcileDeps,
      read: guardReads(countReads(read, caller, deps), { ...deps, breaker: breakers.reads }),
    });

  return {
    request: (input: RequestInput) =>
      requestExtraction(input, {
        ...deps,
        seal: async (extractionId, plaintext) => `${extractionId}|${JSON.stringify(plaintext)}`,
        startExecution: async (execution) => service.startExecution(execution),
      }),
    startTask: (input: ExecutionInput, callbackToken: string, callbackAttempt: number) =>
      startForMachine(
        { ...input, callbackToken, callbackAttempt },
        {
          ...deps,
          callFor: (record) => callFor(record, input.sealed),
          breaker: breakers.starts,
          logIn: sessions.renew,
          fail: async (token, error) => void service.answer(token, error),
          newAttemptId: () => service.newName('attempt'),
        },
      ),
    recordDelivery: (taskId: string, taskStatus: TerminalStatus) =>
      recordDelivery({ taskId, taskStatus }, deps),
    reconcileForMachine: async (extractionId: string, afterFailure: boolean) =>
      answerReconcile(
        extractionId,
        await reconcile(extractionId, { kind: 'machine', afterFailure }),
        'machine',
      ),
    reconcileMessages: (messages: readonly ReceivedMessage[]): Promise<BatchAnswer> =>
      reconcileMessages(messages, {
        reconcile,
        now,
        timings,
        telemetry,
      }),
    sweep: () =>
      sweep({
        extractions: deps.extractions,
        sendBatch: async (messages) => {
          await process.wait(10);
          for (const message of messages) service.queue.accept(message, 0);
          return [];
        },
        now,
        random: () => service.chances.choose('sweep', 1_000) / 1_000,
        remainingMs: () => Number.POSITIVE_INFINITY,
        reserveMs,
        telemetry,
        publish: () => undefined,
      }),
  };
};

export type Functions = ReturnType<typeof functionsIn>;
