import assert from 'node:assert/strict';
import fc from 'fast-check';
import { adviceOf } from '#lib/extraction/advice.ts';
import { problemOf } from '#lib/extraction/codes.ts';
import { parseRead, readingOfExtraction, readV2Task } from '#lib/extraction/reconcile/read-task.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { startForMachine } from '#lib/extraction/start/start.ts';
import { callByConsent, callByCredentials } from '#lib/extraction/start/start-call.ts';
import { describeError } from '#lib/observability/describe-error.ts';
import type { Telemetry } from '#lib/observability/telemetry.ts';
import { getConsent } from '#lib/provider/consents/get-consent.ts';
import { readExtraction } from '#lib/provider/extractions/read-extraction.ts';
import { startExtraction, startExtractionV2 } from '#lib/provider/extractions/start-extraction.ts';
import { readTask } from '#lib/provider/tasks/read-task.ts';
import { startTask } from '#lib/provider/tasks/start-task.ts';
import { logIn } from '#lib/provider/tokens/session-tokens.ts';
import { createTaskToken } from '#lib/provider/tokens/task-tokens.ts';
import { answering } from '../../support/data/canned-connection.ts';
import { consentExtraction, extraction, id } from '../../support/data/extraction-fixtures.ts';
import { extractionInMemory, startDeps } from '../../support/stores/extraction-in-memory.ts';
import { fuzzProperty } from '../property.ts';

/** What no record, log or answer may have: sentences, names of people and of fields, and digits. None has the form of a code. */
const secrets = [
  'Ana Pérez',
  'SENTINEL 7f3a',
  '11.111.111-1',
  '918273645',
  'A-918273645',
  "O'Higgins",
  '{"x"',
];

const codes = [
  'INTERNAL',
  'ENTITY/DOWN',
  'wrong_login',
  'pending',
  'success',
  'RUNNING',
  'COMPLETED',
  'FAILED',
];
const texts = [
  "You don't have sufficient permissions to perform this action",
  'Request monthly quota reached',
  'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
];

const secret = fc.constantFrom(...secrets);
const text = fc.oneof(
  { weight: 4, arbitrary: secret },
  { weight: 3, arbitrary: fc.constantFrom(...codes) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...texts), secret).map((both) => both.join(' ')) },
);
const names = [
  'errorType',
  'errorCode',
  'message',
  'taskStatus',
  'taskStatusCode',
  'results',
  'actions',
  'id',
  'status',
  'error',
  'code',
  'data',
  'subStatus',
  'token',
  'taskToken',
  ...secrets,
];
const { value } = fc.letrec<{ readonly value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 4, arbitrary: text },
    { weight: 2, arbitrary: fc.constantFrom(918_273_645, 401, 500, 0, null, true) },
    { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
  ),
}));

/** A task as documented, or an error, with any of these values in its fields. */
const shaped = fc.oneof(
  fc.record({ errorType: text, errorCode: text, message: text }, { requiredKeys: ['errorType'] }),
  fc.record({ taskStatus: text, taskStatusCode: fc.constantFrom(200, 401, 500), results: value }),
  fc.record({
    taskStatus: fc.constantFrom('PARTIAL', 'FAILED'),
    results: fc.record({
      actions: fc.array(
        fc.record({ id: text, status: text, error: fc.record({ code: text, message: text }) }),
        { maxLength: 3 },
      ),
    }),
  }),
  fc.record({ data: fc.record({ id: text, status: text, subStatus: text }) }),
  value,
);
const body = fc.oneof(
  { weight: 5, arbitrary: shaped.map((of) => JSON.stringify(of)) },
  { weight: 1, arbitrary: text },
);
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 202, 302, 400, 401, 403, 404, 408, 422, 429, 500, 503),
  body,
});

/** Everything that is logged, as the functions log it. */
const recordingTelemetry = () => {
  const kept: unknown[] = [];
  const telemetry: Telemetry = {
    about: (ids) => void kept.push(ids),
    log: (...line) => void kept.push(line),
    failure: (what, error, about) => void kept.push([what, describeError(error), about]),
    count: (metric, { value = 1 } = {}) => void kept.push([metric, value]),
  };
  return { kept, telemetry };
};

type Answer = { readonly status: number; readonly body: string };

/** One start with these answers, in turn: what it records, logs and reports. */
const start = async (record: Extraction, answers: readonly Answer[]): Promise<readonly unknown[]> => {
  const { kept, telemetry } = recordingTelemetry();
  let calls = 0;
  const { connection } = answering(() => {
    calls += 1;
    return answers[Math.min(calls, answers.length) - 1] ?? {};
  });
  const { deps, seen } = extractionInMemory(record);
  const clientId = '00000000-0000-4000-8000-000000000001';
  const sessions = { current: () => logIn(connection, 'key', 60), drop: () => undefined };
  const taskTokens = {
    current: async (target: string) =>
      (await createTaskToken(connection, 'key', { target, clientId })).taskToken,
    drop: () => undefined,
  };
  const report = async (...of: unknown[]): Promise<void> => void kept.push(of);
  const ids = { extractionId: id, requestId: 'request-1', callbackToken: 'token', callbackAttempt: 0 };
  await startForMachine(
    { ...ids, entry: 0, isReleased: false },
    {
      ...startDeps,
      ...deps,
      telemetry,
      callFor: async (of) =>
        of.method === 'consent'
          ? callByConsent(
              of,
              { target: '22222222-2' },
              {
                taskTokens,
                startExtraction: {
                  v1: (...call) => startExtraction(connection, ...call),
                  v2: (...call) => startExtractionV2(connection, ...call),
                },
                getConsent: (...call) => getConsent(connection, ...call),
              },
            )
          : callByCredentials(
              of,
              { credentials: { mode: 'raw', value: { username: 'u', password: 'p' } } },
              { sessions, startTask: (...call) => startTask(connection, ...call) },
            ),
      logIn: sessions.current,
      send: report,
      fail: report,
    },
  );
  return [...seen.extractions.items.values(), ...kept];
};

/** What a read makes of an answer, without the results, which are stored as they are. */
const read = async (given: Answer): Promise<readonly unknown[]> => {
  const { connection } = answering(() => given);
  const poll = async (variant: 'v1' | 'v2') =>
    readingOfExtraction(
      await readExtraction(connection, 'token', { variant, taskId: 'task', parse: parseRead }),
    );
  const task = () => readV2Task(() => readTask(connection, 'token', 'task', parseRead), []);
  const readings = [task(), poll('v1'), poll('v2')].map((reading) =>
    reading.then(
      ({ reading: made }) => ({ ...made, advice: adviceOf({ status: 'FAILED', ...made }) }),
      (error: unknown) => [problemOf(error), describeError(error)],
    ),
  );
  return Promise.all(readings);
};

const records = [extraction(), consentExtraction(), consentExtraction({ variant: 'v2' })];
const tokens = { status: 200, body: '{"token":"session","data":{"taskToken":"task"}}' };

export const nothingKept = fuzzProperty({
  name: 'answers/nothing-kept',
  claim:
    'whatever an answer of the provider says, no text, digits or name of it is recorded, logged or reported',
  weight: 8,
  expected: { REJECTED: 0.1, UNCONFIRMED: 0.1, REQUESTED: 0.1 },
  cases: fc.record({
    record: fc.constantFrom(...records),
    answers: fc.array(answer, { minLength: 1, maxLength: 3 }),
    hasToken: fc.integer({ min: 0, max: 3 }),
  }),
  check: async ({ record, answers, hasToken }, see) => {
    const started = await start(record, hasToken > 0 ? [tokens, ...answers] : answers);
    const [{ status } = { status: '' }] = started as readonly { readonly status: string }[];
    see(status);
    const readings = await Promise.all(answers.map(read));
    const kept = JSON.stringify([started, readings]);
    for (const one of secrets) assert.ok(!kept.includes(JSON.stringify(one).slice(1, -1)), `${one} is kept`);
  },
});
