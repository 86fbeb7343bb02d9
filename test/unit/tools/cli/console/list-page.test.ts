import { expect, test } from 'vitest';
import { consoleOver, denied, sourcesWith } from '../../../../support/console-fixtures.ts';
import { closedExtraction, extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';

const settled = {
  settledBy: 'webhook',
  settledAt: iso(42),
  collectedAt: iso(43),
  results: { bucket: 'b', key: 'k', bytes: 2_489, sha256: 's' },
} as const;

test('the first line answers whether anything is overdue', async () => {
  // After three intervals of the sweep, 15 minutes. The console shows 100 s.
  const overdue = extractionIn('RUNNING', { dueAt: iso(100 - 901) });
  expect(await consoleOver(sourcesWith([overdue])).text('/')).toContain('<h1>1 extraction is overdue.</h1>');
  for (const dueAt of [iso(100 - 900), iso(200)]) {
    expect(await consoleOver(sourcesWith([extractionIn('RUNNING', { dueAt })])).text('/')).toContain(
      '<h1>1 extraction is open, and none is overdue.</h1>',
    );
  }
});

test('the first page says whether calls are held, the sweep runs and messages are dead', async () => {
  const sources = sourcesWith([], {
    breakers: async () => [
      { name: 'starts', state: 'closed' },
      { name: 'reads', state: 'open', since: iso(40) },
    ],
    sweeps: async () => ({ items: [{ at: iso(40), sent: 0, failed: 0 }], complete: true }),
    queues: async () => [
      { name: 'reconcile queue', isDeadLetters: false, waiting: 7, later: 0, inFlight: 0 },
      { name: 'dead letters', isDeadLetters: true, waiting: 1, later: 0, inFlight: 0 },
    ],
  });
  const page = await consoleOver(sources).text('/');
  const late = '<li class="late"><span aria-hidden="true">▲</span>';
  expect(page).toContain('<li>starts closed</li>');
  expect(page).toContain(`${late} reads open</li>`);
  expect(page).toMatch(/<li>sweep <time [^>]+>1 min ago<\/time><\/li>/);
  expect(page).toContain('<li>reconcile queue 7</li>');
  expect(page).toContain(`${late} dead letters 1</li>`);
  const troubled = await consoleOver(
    sourcesWith([], { queues: () => denied('sqs:GetQueueAttributes') }),
  ).text('/');
  expect(troubled).toContain('<li>no sweep within an hour</li>');
  expect(troubled).toContain(`${late} queues unknown</li>`);
});

test('a row says what an open extraction waits for, and how one ended', async () => {
  const page = await consoleOver(
    sourcesWith([
      extractionIn('RUNNING', { dueAt: iso(89) }),
      closedExtraction({ extractionId: id.replace(/1$/, '2'), status: 'COMPLETED', ...settled }),
    ]),
  ).text('/');
  expect(page).toContain('webhook, or a poll · due for 11 s: the next sweep queues it');
  expect(page).toContain('by webhook in 42 s · collected, 2,489 bytes');
});

test('a text of a caller is escaped, its control characters are visible, and it is cut off', async () => {
  const reference = `<script>alert(1)</script>\u001b[2J${'x'.repeat(200)}`;
  const page = await consoleOver(sourcesWith([extractionIn('RUNNING', { reference })])).text('/');
  expect(page).not.toContain('<script>alert');
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u001b[2J');
  expect(page).not.toContain('x'.repeat(60));
  const echoed = await consoleOver(sourcesWith([])).text('/?name=%22%3E%3Cimg%20src%3Dx%3E');
  expect(echoed).toContain('&quot;&gt;&lt;img src=x&gt;');
});

test('a fingerprint, a bucket, a key and a request id are not on the list', async () => {
  const record = closedExtraction({ status: 'COMPLETED', ...settled, requestId: 'the-request-id' });
  const page = await consoleOver(sourcesWith([record])).text('/');
  for (const value of [record.fingerprint, 'the-request-id']) expect(page).not.toContain(value);
});

test('a part that the operator may not read is named, and the rest is shown', async () => {
  const open = extractionIn('RUNNING', { reference: 'order-7' });
  const page = await consoleOver(sourcesWith([open], { recent: () => denied('states:ListExecutions') })).text(
    '/',
  );
  expect(page).toContain('Extractions that ended: not shown.');
  expect(page).toContain('to states:ListExecutions on r. That permission is missing');
  expect(page).toContain('order-7');
  const nothing = await consoleOver(sourcesWith([], { open: () => denied('dynamodb:Query') })).text('/');
  expect(nothing).toContain('<h1>What is open could not be read.</h1>');
});

test('an extraction of any age is found by its whole id', async () => {
  const old = closedExtraction({ status: 'FAILED', requestedAt: '2025-01-01T00:00:00.000Z' });
  const sources = sourcesWith([old], { recent: async () => ({ items: [], complete: true }) });
  const { text } = consoleOver(sources);
  expect(await text('/')).toContain('No extraction matches.');
  expect(await text(`/?name=${id}`)).toContain(`/extractions/${id}`);
});

test('a defect is reported on the terminal, and its text is not on the page', async () => {
  const defect = new TypeError('a value of a record');
  const { get, errors } = consoleOver(sourcesWith([], { open: () => Promise.reject(defect) }));
  const answer = await get('/');
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('a value of a record');
  expect(errors).toEqual([defect]);
});
