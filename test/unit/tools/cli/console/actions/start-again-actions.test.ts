import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../../lib/extraction/record.ts';
import { startAgainActions } from '../../../../../../tools/cli/console/actions/start-again-actions.ts';
import { consoleOver, sourcesWith } from '../../../../../support/browser/console-fixtures.ts';
import {
  closedExtraction,
  consentIn,
  extractionIn,
  id,
} from '../../../../../support/data/extraction-fixtures.ts';

const another = id.replace(/1$/, '2');
const accepted = () => Response.json({ extractionId: another, status: 'REQUESTED' }, { status: 202 });

/** A console over this record, whose forms send to this API. */
const consoleFor = (record: Extraction, answer: () => Response = accepted) => {
  const sent: { readonly key: string | null; readonly body: unknown }[] = [];
  const actions = startAgainActions({
    apiUrl: 'https://api.example',
    recordOf: async () => record,
    newKey: () => 'a-new-key',
    sleep: async () => undefined,
    fetch: async (_, init) => {
      const key = new Headers(init?.headers).get('idempotency-key');
      sent.push({ key, body: JSON.parse(String(init?.body)) });
      return answer();
    },
  });
  const console = consoleOver(sourcesWith([record]), { actions });
  /** What the page says after the form, and everything that was shown or printed. */
  const submit = async (action: string, input: string) => {
    const form = await console.text(`/actions/${action}?subject=${id}`);
    const token = /name="token" value="([^"]+)"/.exec(form)?.[1] ?? '';
    const answered = await console.post(`/actions/${action}`, { subject: id, token, input });
    const [path = ''] = (answered.headers.get('location') ?? '').split('#');
    const page = await console.text(path.replace(/^\/[^/]+/, ''));
    return { form, page, all: [form, path, page, ...console.done].join() };
  };
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
