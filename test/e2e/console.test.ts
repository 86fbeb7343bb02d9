/** @module-tag slow */

import { expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { keepAnswer } from './leaks/kept-answers.ts';
import { extractWith, provider } from './support/call-extractions.ts';
import { closed } from './support/records.ts';
import { cosechaServing } from './support/run-cosecha.ts';
import { settledByWebhook } from './support/running-extractions.ts';

const { answersFile } = inject('cosecha');

/** A page as the operator's browser gets it. It is kept for the search for leaks. */
const open = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  const body = await answer.text();
  const path = new URL(url).pathname.split('/').slice(2).join('/');
  const request = `console ${init.method ?? 'GET'} /${path.replace(/[0-9a-f-]{36}/, '{extractionId}')}`;
  keepAnswer(answersFile, {
    request,
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body,
  });
  return { status: answer.status, body };
};

test('with the documented permissions, every page of the console is complete, and its search finds a planted extraction', async () => {
  const { extractionId, taskId } = await settledByWebhook({}, { reference: 'console-test' });
  await closed(extractionId);
  const { extractionId: refused } = await extractWith({ startForever: { kind: 'answer', status: 400 } });
  await closed(refused);
  await provider.deliverTask(taskId, { tamper: 'signature' });
  const console = await cosechaServing(['console', '--actions']);
  try {
    await eventually(async () => {
      const list = await open(`${console.url}?name=console-test`);
      expect(list).toMatchObject({
        status: 200,
        body: expect.stringContaining(`/extractions/${extractionId}"`),
      });
      expect(list.body).not.toContain('not shown');
    });
    const page = await open(`${console.url}extractions/${extractionId}`);
    expect(page.body).toContain('COMPLETED');
    expect(page.body).toMatch(/#line-\d/);
    expect(page.body).not.toContain('That permission is missing');
    expect((await open(`${console.url}extractions/${refused}/story.txt`)).body).toContain('REJECTED');

    await eventually(async () => {
      const { body } = await open(`${console.url}deliveries`);
      expect(body).toContain(taskId);
      expect(body).toContain('its signature matches no signing key');
    });
    const health = await open(`${console.url}health`);
    expect(health.body).toContain('stack Cosecha-local is CREATE_COMPLETE');
    expect(health.body).not.toContain('not shown');

    const confirm = await open(`${console.url}actions/reconcile?subject=${extractionId}`);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(confirm.body) ?? [];
    const form = { method: 'POST', body: new URLSearchParams({ subject: extractionId, token }) };
    const done = await open(`${console.url}actions/reconcile`, {
      ...form,
      headers: { origin: new URL(console.url).origin },
    });
    expect(done).toMatchObject({
      status: 200,
      body: expect.stringContaining('COMPLETED (settled by webhook)'),
    });
  } finally {
    await console.stop();
  }
});
