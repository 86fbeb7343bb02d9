import { type CircuitBreaker, createCircuitBreaker } from '#lib/breaker/circuit-breaker.ts';
import {
  createExtraction,
  type ExecutionInput,
  type RequestInput,
} from '#lib/extraction/api/create-extraction.ts';
import { eraseMessages } from '#lib/extraction/erase/erase-messages.ts';
import type { SendErase } from '#lib/extraction/erase/erasure.ts';
import { type AskedErasure, beginErasure } from '#lib/extraction/erase/search.ts';
import type { BatchAnswer, ReceivedMessage } from '#lib/extraction/handle-messages.ts';
import { briefCallMs, type ReadableProvider, readCallFrom } from '#lib/extraction/reconcile/read-task.ts';
import {
  answerReconcile,
  type ReconcileInvoker,
  reconcile,
  reconcileInvokerOf,
  reconcileMessages,
} from '#lib/extraction/reconcile/reconcile.ts';
import type { ReconcileMessage } from '#lib/extraction/reconcile-message.ts';
import type { TerminalStatus } from '#lib/extraction/record.ts';
import { recordDelivery } from '#lib/extraction/record-delivery.ts';
import { type StartInput, startForMachine } from '#lib/extraction/start/start.ts';
import { startCallFrom } from '#lib/extraction/start/start-call.ts';
import { sweep } from '#lib/extraction/sweep.ts';
import { cacheSessionTokens } from '#lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens } from '#lib/provider/tokens/task-tokens.ts';
import { dispatchStarts } from '#lib/rate-limit/dispatch-starts.ts';
import { createStartLimiter } from '#lib/rate-limit/start-limiter.ts';
import { operatorSettingsOf } from '#lib/shared-item/operator-settings.ts';
import { breakerStoreOver, permitStoreOver } from '../../support/stores/memory-breaker-store.ts';
import { erasureStoreOver } from '../../support/stores/memory-erasure-store.ts';
import { extractionStoreOver } from '../../support/stores/memory-extraction-store.ts';
import { refusalStoreOver } from '../../support/stores/memory-refused-credentials-store.ts';
import { memoryRepeatCounter } from '../../support/stores/memory-repeat-counter.ts';
import { requestStoreOver } from '../../support/stores/memory-request-store.ts';
import { openLine, startLineOver } from '../../support/stores/memory-start-line.ts';
import { eraseTaskIn, taskStoreOver } from '../../support/stores/memory-task-store.ts';
import { seal, unsealed } from '../models/sealing.ts';
import { reserveMs } from '../world/settings.ts';
import { fingerprintKey } from '../world/the-extraction.ts';
import { hasLine } from './draw-population.ts';
import type { Process } from './process.ts';
import type { Queue } from './queue.ts';
import type { Service } from './service.ts';
import { breakerSettings, settings, timings } from './settings.ts';

/** Five tries of five seconds each (lib/aws/wiring/aws-client-timeouts.ts). */
const patientStoreMs = 25_000;

const breakerOf = (service: Service, process: Process): CircuitBreaker =>
  createCircuitBreaker({
    store: breakerStoreOver(service.breakers, process.carryOut),
    settings: breakerSettings,
    isPaused: async () => false,
    now: process.now,
    random: () => service.choices.choose(process.of, 1_000) / 1_000,
    newId: () => `${process.name}/${service.newName('id')}`,
    telemetry: service.telemetry,
  });

/**
 * The functions in one process, with its caches. What each file of functions/ builds from its environment is built here over memory;
 * all else is the code of the product. No other file of the populations knows how a breaker is used.
 */
export const functionsIn = (service: Service, process: Process) => {
  const { provider, telemetry } = service;
  const { now } = process;
  const tokensWithin = (maxCallMs: number) => ({
    sessions: cacheSessionTokens({
      logIn: () => provider.logIn(process, maxCallMs),
      lifetimeMs: settings.sessionMinutes * 60_000,
      now,
    }),
    taskTokens: cacheTaskTokens({
      create: (target) => provider.createTaskToken(process, target, maxCallMs),
      lifetimeMs: settings.taskTokenMinutes * 60_000,
      now,
    }),
  });
  const patientTokens = tokensWithin(settings.providerTimeoutMs);
  const { sessions, taskTokens } = patientTokens;
  const providerWithin = (maxCallMs: number, tokens = tokensWithin(maxCallMs)): ReadableProvider => ({
    ...tokens,
    readTask: (_token, taskId) => provider.readTask(process, taskId, maxCallMs),
    readExtraction: (token, taskId) => provider.readExtraction(process, token, taskId, maxCallMs),
  });
  const briefProvider = providerWithin(briefCallMs);
  const patientProvider = providerWithin(settings.providerTimeoutMs, patientTokens);
  const sendTo =
    (queue: Queue) =>
    async (message: ReconcileMessage, group: string, delaySeconds = 0): Promise<void> => {
      await process.wait(5);
      queue.accept(message, { of: message.extractionId, delaySeconds, group });
    };
  const deps = {
    extractions: extractionStoreOver(service.extractions, process.carryOut),
    tasks: taskStoreOver(service.tasks, process.carryOut),
    requests: requestStoreOver(service.requests, process.carryOut),
    refusals: refusalStoreOver(service.refusals, process.carryOut),
    keptDays: service.population.keptDays ?? 7,
    send: sendTo(service.queue),
    wake: async (callbackToken: string) => {
      await process.wait(5);
      return service.answer(callbackToken, undefined) ? ('woken' as const) : ('gone' as const);
    },
    now,
    timings,
    telemetry,
  };

  const post = () => provider.startTask(process);
  const callFor = startCallFrom({
    unsealCredentials: async (record, item) => unsealed(record, item),
    unsealTarget: async (record, item) => unsealed(record, item),
    provider: {
      sessions,
      taskTokens,
      startTask: post,
      startExtraction: { v1: post, v2: post },
      // No start of these mixes is refused with a status alone.
      getConsent: () => Promise.reject(new Error('No consent is read.')),
    },
    key: async () => fingerprintKey,
    keptDays: deps.keptDays,
  });
  const reconcileDeps = {
    ...deps,
    readCallFor: readCallFrom({
      requests: deps.requests,
      unsealTarget: async (record, item) => unsealed(record, item),
      providerFor: (isBrief: boolean) => (isBrief ? briefProvider : patientProvider),
    }),
    isPaused: operatorSettingsOf({
      store: breakerStoreOver(service.breakers, process.carryOut),
      now,
      telemetry,
    }).isPaused,
    sendSlow: sendTo(service.slowQueue),
    storeResults: async (extractionId: string, bytes: Uint8Array, isBrief: boolean) => {
      await process.wait(20);
      if (service.hangs('store', extractionId)) {
        await process.wait(isBrief ? briefCallMs : patientStoreMs);
        throw new Error('The bucket does not answer.');
      }
      const text = new TextDecoder().decode(bytes);
      return { bucket: 'results', key: `${extractionId}/${text}`, bytes: bytes.byteLength, sha256: text };
    },
  };
  const erasures = erasureStoreOver(service.erasing, async (_call, effect) => {
    await process.wait(5);
    return effect();
  });
  const sendErase: SendErase = async (message, group, delaySeconds = 0) => {
    await process.wait(5);
    const of = 'erase' in message ? message.erase.extractionId : message.search.erasureId;
    service.eraseQueue.accept(message, { of, delaySeconds, group });
  };
  const withLine = service.population.line ?? {};
  const store = breakerStoreOver(service.breakers, process.carryOut);
  const permits = permitStoreOver(service.breakers, process.carryOut);
  const operator = operatorSettingsOf({ store, now, telemetry });
  const limit = async (): Promise<number | undefined> =>
    (await operator.ratePerSecond()) ?? withLine.perSecond;
  const line = startLineOver(service.line, process.carryOut);
  const newId = (): string => `${process.name}/${service.newName('id')}`;
  const limiter = createStartLimiter({
    store,
    permits,
    line,
    limit,
    invokeDispatcher: async () => {
      await process.wait(20);
      service.invokeDispatcher(false);
    },
    now,
    newVersion: newId,
    telemetry,
  });
  const isCarriedOut = hasLine(service.population);
  const unseenLine = startLineOver(service.line, async (_call, effect) => effect());
  const startLine = isCarriedOut ? { limiter, line } : openLine(unseenLine);
  const breaker = breakerOf(service, process);
  const reconcileOne = (extractionId: string, invoker: ReconcileInvoker) =>
    reconcile(extractionId, invoker, {
      ...reconcileDeps,
      startLine: isCarriedOut ? line : unseenLine,
    });

  return {
    request: (input: RequestInput) =>
      createExtraction(input, {
        ...deps,
        repeats: memoryRepeatCounter(),
        newRequestId: () => service.newName('request'),
        sendsWebhooks: true,
        seal: async (record, plaintext) => seal(record, plaintext),
        startExecution: async (execution) => service.startExecution(execution),
      }),
    process,
    dispatch: (isScheduled: boolean) =>
      dispatchStarts({
        store,
        permits,
        line,
        limit,
        isPaused: () => operator.isPaused('starts'),
        release: async ({ callbackToken }) => {
          const { hangsOneIn = 0 } = withLine;
          const hangs = hangsOneIn > 0 && service.choices.choose('release', hangsOneIn) === 1;
          await process.wait(hangs ? 5_000 : 20);
          service.answer(callbackToken, undefined);
        },
        wait: (milliseconds) => process.wait(milliseconds),
        now,
        remainingMs: process.remainingMs,
        newId,
        telemetry,
        publish: () => undefined,
        isScheduled,
      }),
    startTask: (
      input: ExecutionInput & Pick<StartInput, 'entry' | 'isReleased'>,
      callbackToken: string,
      callbackAttempt: number,
    ) =>
      startForMachine(
        { ...input, callbackToken, callbackAttempt },
        {
          ...deps,
          startLine,
          callFor,
          breaker,
          whenSlow: (callback) => process.schedule(callback, settings.breakerSlowCallSeconds * 1_000),
          logIn: sessions.renew,
          maxCallMs: settings.providerTimeoutMs,
          fail: async (token, error, cause) => {
            if (service.answer(token, error)) service.causes.set(input.extractionId, cause);
          },
          newAttemptId: () => service.newName('attempt'),
        },
      ),
    recordDelivery: (taskId: string, taskStatus: TerminalStatus) =>
      recordDelivery({ taskId, taskStatus }, deps),
    askToErase: (asked: AskedErasure) => beginErasure(asked, { erasures, send: sendErase }),
    eraseMessages: (messages: readonly ReceivedMessage[]): Promise<BatchAnswer> =>
      eraseMessages(messages, {
        ...deps,
        index: {
          find: async (query) => {
            await process.wait(10);
            return service.findNamed(query);
          },
        },
        startLine: line,
        removals: {
          removeRecord: async (record) => {
            await process.wait(5);
            return service.removeErased(record);
          },
          getMac: async () => undefined,
          removeMark: async () => undefined,
          removeRepeats: async () => undefined,
          eraseTask: async (...of) => {
            await process.wait(5);
            eraseTaskIn(service.tasks, ...of);
          },
          removeResults: async () => 0,
        },
        erasures,
        send: sendErase,
      }),
    reconcileForMachine: async (extractionId: string) =>
      answerReconcile(
        extractionId,
        await reconcileOne(
          extractionId,
          reconcileInvokerOf({
            trigger: 'machine',
            extractionId,
            lastProblem: service.causes.get(extractionId),
          }),
        ),
        'machine',
      ),
    reconcileMessages: (messages: readonly ReceivedMessage[], isSlow: boolean): Promise<BatchAnswer> =>
      reconcileMessages(messages, {
        isSlow,
        reconcile: reconcileOne,
        now,
        timings,
        telemetry,
      }),
    sweep: () =>
      sweep({
        extractions: deps.extractions,
        sendBatch: async (batch) => {
          await process.wait(10);
          for (const { message, caller: group } of batch)
            service.queue.accept(message, { of: message.extractionId, group });
          return [];
        },
        now,
        random: () => service.choices.choose('sweep', 1_000) / 1_000,
        remainingMs: () => Number.POSITIVE_INFINITY,
        reserveMs,
        telemetry,
        publish: () => undefined,
      }),
  };
};

export type Functions = ReturnType<typeof functionsIn>;
