import { describe, expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { consoleOver, sourcesWith } from '#support/browser/console-fixtures.ts';
import {
  clock,
  closedExtraction,
  consentIn,
  extractionIn,
  id,
  idOf,
} from '#support/data/extraction-fixtures.ts';
import { requestAgainAction, startAgainActions } from '#tools/cli/console/actions/start-again-actions.ts';
import { matchingRecords } from '#tools/cli/console/pages/list-page.ts';

const another = idOf(2);
const accepted = () => Response.json({ extractionId: another, status: 'REQUESTED' }, { status: 202 });

/** What an action needs of the API that answers so, and what it sends to it. */
const apiWith = (answer: (key: string) => Response) => {
  const sent: { readonly key: string; readonly body: Readonly<Record<string, unknown>> }[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    const key = new Headers(init?.headers).get('idempotency-key') ?? '';
    sent.push({ key, body: JSON.parse(String(init?.body)) });
    return answer(key);
  };
  return { sent, api: { apiUrl: 'https://api.example', sleep: async () => undefined, fetch } };
};

/** A console over this record, whose forms send to this API. */
const consoleFor = (record: Extraction, answer: () => Response = accepted) => {
  const { sent, api } = apiWith(answer);
  const actions = startAgainActions({ ...api, recordOf: async () => record, newKey: () => 'a-new-key' });
  const console = consoleOver(sourcesWith([record]), { actions });
  const submit = (action: string, secret: string) => console.submit(action, { subject: id, secret });
  return { ...console, sent, submit };
};

const wrong = closedExtraction({ status: 'CREDENTIALS_WRONG', reference: 'order-7', batch: 'morning' });

test('what has credentials asks for them, and is requested again under a new key, and they stay nowhere', async () => {
  const { sent, submit, text } = consoleFor(wrong);
  expect(await text(`/extractions/${id}`)).toContain('/actions/start-again?');
  const secret = `s3cret-${'x'.repeat(5_000)}`;
  const { form, page, all } = await submit(
    'start-again',
    JSON.stringify({ username: 'u', password: secret }),
  );
  expect(form).toContain('type="password"');
  expect(page).toContain(`${another} is requested.`);
  expect(page).toContain(`/extractions/${another}"`);
  const { entity, actions } = wrong;
  const credentials = { mode: 'raw', value: { username: 'u', password: secret } };
  const names = { reference: 'order-7', batch: 'morning' };
  expect(sent).toEqual([{ key: 'a-new-key', body: { entity, actions, credentials, ...names } }]);
  expect(all).not.toContain('s3cret');
});

test('what has a consent asks for the national id', async () => {
  const { dueShard: _, ...record } = consentIn('NOT_STARTED');
  const { product, consentId, variant } = record;
  const { sent, submit } = consoleFor(record);
  const { all } = await submit('start-again-by-consent', '12345678Z');
  const body = { method: 'consent', product, consentId, variant, target: '12345678Z' };
  expect(sent).toEqual([{ key: 'a-new-key', body }]);
  expect(all).not.toContain('12345678Z');
});

test('what is not JSON is not sent, and neither it nor a refused request is repeated in the answer', async () => {
  const { sent, submit } = consoleFor(wrong);
  const { page, all } = await submit('start-again', 's3cret');
  expect(page).toContain('not done.</strong> The credentials must be JSON.');
  expect(all).not.toContain('s3cret');
  expect(sent).toEqual([]);
  const refused = consoleFor(wrong, () => Response.json({ title: 'Too many requests.' }, { status: 403 }));
  const after = await refused.submit('start-again', '{"password":"s3cret"}');
  expect(after.page).toContain('not done.');
  expect(after.all).not.toContain('s3cret');
});

test('one that is still open is not offered to be started again', async () => {
  expect(await consoleFor(extractionIn('RUNNING')).text(`/extractions/${id}`)).not.toContain('/actions/');
});

describe('all that match a filter are requested again', () => {
  const { dueShard: _, ...closedByConsent } = consentIn('NOT_STARTED', { batch: 'morning' });
  const [mine, theirs] = ['11.111.111-1', '22.222.222-2'];
  const anothers = '00000000-0000-4000-8000-000000000009';
  const records: readonly Extraction[] = [
    { ...closedByConsent, extractionId: idOf(1) },
    { ...closedByConsent, extractionId: idOf(2), consentId: anothers },
    { ...closedByConsent, extractionId: idOf(3) },
    { ...consentIn('RUNNING'), batch: 'morning', extractionId: idOf(4) },
    closedExtraction({ status: 'FAILED', batch: 'morning', extractionId: idOf(5) }),
  ].map((record) => ({ ...record, reference: 'order-7' }));
  const both = JSON.stringify({ [closedByConsent.consentId]: mine, [anothers]: theirs });
  const subject = 'name=order-7';

  const consoleOf = (shown: readonly Extraction[], answer: (key: string) => Response) => {
    const { sent, api } = apiWith(answer);
    const { now } = clock(100);
    const sources = sourcesWith(shown);
    const matching = (query: string) => matchingRecords(query, sources, now());
    const action = requestAgainAction({ ...api, matching });
    return { ...consoleOver(sources, { actions: [action], now }), sent };
  };

  const submit = async (
    form: { readonly input: string; readonly secret: string },
    answer: (key: string) => Response = accepted,
  ) => {
    const { sent, submit: send } = consoleOf(records, answer);
    return { ...(await send('request-again', { subject, ...form })), sent };
  };

  test('each by consent under a key of its own, and the page says which are left out and why', async () => {
    const { form, page, sent, all } = await submit({ input: '3', secret: both });
    expect(form).toContain('5 extractions match this filter now, and 3 can be requested again.');
    const leftOut =
      'Left out: 1 by credentials, because none are kept; 1 by consent, because they are still open.';
    expect(form).toContain(leftOut);
    expect(page).toContain(`3 extractions are requested. ${leftOut}`);
    expect(sent.map(({ key }) => key).toSorted()).toEqual([1, 2, 3].map((last) => `again-${idOf(last)}`));
    const { product, consentId, variant } = closedByConsent;
    const names = { reference: 'order-7', batch: 'morning', priority: 'background' };
    expect(sent.map(({ body }) => body)).toContainEqual({
      ...{ method: 'consent', product, consentId, variant, target: mine },
      ...names,
    });
    expect(sent.map(({ body }) => body.target).toSorted()).toEqual([mine, mine, theirs]);
    expect(all).not.toMatch(/11\.111\.111|22\.222\.222/);
  });

  test.each([
    [
      'another number',
      { input: '5', secret: both },
      '3 can be requested again now, and another number was typed.',
    ],
    ['no JSON', { input: '3', secret: mine }, 'What was entered must be JSON.'],
    ['a wrong national id', { input: '3', secret: `{"c":"11.111.111-2"}` }, 'Nothing was requested.'],
    ['no national id', { input: '3', secret: '' }, 'is missing.'],
  ])('none with %s', async (_, form, sentence) => {
    const { page, sent, all } = await submit(form);
    expect(page).toContain(sentence);
    expect(sent).toEqual([]);
    expect(all).not.toMatch(/11\.111\.111/);
  });

  test('what has no national id is left out, and what was requested again before starts nothing', async () => {
    const secret = JSON.stringify({ [closedByConsent.consentId]: mine });
    const replayed = () =>
      Response.json({ extractionId: another }, { headers: { 'idempotency-replayed': 'true' } });
    const { page, sent } = await submit({ input: '3', secret }, (key) =>
      key.endsWith('1') ? replayed() : accepted(),
    );
    expect(sent).toHaveLength(2);
    expect(page).toContain('1 extraction is requested. 1 had been requested again before.');
    expect(page).toContain('1, because the national id of their consent was not entered.');
  });

  test('a refusal ends it, says how many are requested, and repeats no national id', async () => {
    const { page, sent, all } = await submit({ input: '3', secret: both }, (key) =>
      key.endsWith('3') ? accepted() : Response.json({ title: 'Forbidden.' }, { status: 403 }),
    );
    expect(sent.length).toBeLessThan(3);
    expect(page).toMatch(
      /not done\.<\/strong> \d of 3 are requested\. Then: .* nothing is requested twice\./,
    );
    expect(all).not.toMatch(/11\.111\.111|22\.222\.222/);
  });

  test('the list offers it where one of its rows can be requested again', async () => {
    const offers = async (shown: readonly Extraction[], path: string) =>
      (await consoleOf(shown, accepted).text(path)).includes('id="action-request-again"');
    expect(await offers(records, `/?${subject}`)).toBe(true);
    expect(await offers(records, '/')).toBe(false);
    expect(await offers(records.slice(3), `/?${subject}`)).toBe(false);
  });
});
