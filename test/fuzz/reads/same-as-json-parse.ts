import assert from 'node:assert/strict';
import { parseRead, readingOfExtraction, readingOfTask } from '#lib/extraction/reconcile/read-task.ts';
import { readExtraction } from '#lib/provider/extractions/read-extraction.ts';
import { parseTask } from '#lib/provider/tasks/read-task.ts';
import { ProviderAmbiguous } from '#lib/provider/transport/errors.ts';
import { type Connection, type ParseBytes, parseJson } from '#lib/provider/transport/send-request.ts';
import { readAnswer } from '../generators/read-answer.ts';
import { fuzzProperty } from '../property.ts';

const answeringWith = (bytes: Buffer): Connection => ({
  baseUrl: 'https://provider.example',
  fetch: async () => {
    const body = (async function* () {
      yield bytes;
    })();
    return { status: 200, body: Object.assign(body, { cancel: async () => undefined }) };
  },
  totalTimeoutMs: 1_000,
  maxAnswerBytes: 1 << 20,
});

const notUnderstood = (error: unknown): string => {
  if (!(error instanceof ProviderAmbiguous)) throw error;
  return 'not understood';
};

/** The reading of each method, or that the bytes are not understood. */
const readingsOf = async (bytes: Buffer, parse: ParseBytes) => {
  const poll = async (variant: 'v1' | 'v2') =>
    readingOfExtraction(
      await readExtraction(answeringWith(bytes), 'token', { variant, taskId: 'task', parse }),
    ).reading;
  return {
    task: await Promise.resolve()
      .then(() => readingOfTask(parseTask(bytes, parse), [{ id: 'tef' }]).reading)
      .catch(notUnderstood),
    v1: await poll('v1').catch(notUnderstood),
    v2: await poll('v2').catch(notUnderstood),
  };
};

export const sameAsJsonParse = fuzzProperty({
  name: 'reads/same-as-json-parse',
  claim: 'an answer to a read means the same to the streaming parser as to JSON.parse, JSON or not',
  weight: 6,
  expected: { 'not JSON': 0.2, actions: 0.03, ended: 0.1, running: 0.05, unexpected: 0.05 },
  cases: readAnswer,
  check: async (bytes, see) => {
    const expected = await readingsOf(bytes, parseJson);
    const { task } = expected;
    if (typeof task === 'string' || typeof expected.v2 === 'string') {
      if (expected.v2 === 'not understood') see('not JSON');
    } else {
      see(task.kind);
      if (task.kind === 'ended' && !task.expected) see('unexpected');
      if (task.kind === 'ended' && task.actionResults !== undefined) see('actions');
    }
    assert.deepEqual(await readingsOf(bytes, parseRead), expected);
  },
});
