import { describe, expect, inject, test } from 'vitest';
import { historyOf } from './support/execution.ts';
import {
  extract,
  passwordSentinel,
  plannedUsername,
  post,
  provider,
  requestFor,
} from './support/extractions.ts';
import { everyLog } from './support/logs.ts';
import { closed, streamOf } from './support/records.ts';

const { apiKey, signingKey } = inject('cosecha');

describe('no secret of an extraction', () => {
  test('is in a log, the execution history or the stream, whether things went well or not', async () => {
    const resultSentinel = 'sentinel-result-93ac';
    const extraSentinel = 'sentinel-webhook-5b02';
    const usernames = await Promise.all([
      plannedUsername({
        results: { secret: resultSentinel },
        webhook: { extraFields: { note: extraSentinel } },
      }),
      plannedUsername({ startForever: { kind: 'answer', status: 400, body: { echo: passwordSentinel } } }),
      plannedUsername({ read: [{ kind: 'answer', status: 200, body: `<${resultSentinel}` }] }),
    ]);
    const ids = await Promise.all(usernames.map((username) => extract(requestFor(username))));
    await Promise.all(ids.map((id) => closed(id)));
    await post(`{"credentials": "${passwordSentinel}`);
    await provider.deliver({ taskId: 'leak-check', taskStatus: 'COMPLETED', raw: `"${extraSentinel}"` });

    const logs = await everyLog();
    // The search itself finds what is there.
    expect(logs).toContain(ids[0]);
    const kept = [
      logs,
      ...(await Promise.all(ids.map(historyOf))).map((history) => JSON.stringify(history)),
      ...ids.map((id) => JSON.stringify(streamOf(id))),
    ].join('\n');
    for (const secret of [
      passwordSentinel,
      apiKey,
      signingKey,
      resultSentinel,
      extraSentinel,
      ...usernames,
    ]) {
      expect(kept).not.toContain(secret);
    }
    expect(kept).not.toMatch(/Bearer /);
  });
});
