import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxControl } from '../../../sandbox/control-client.ts';
import { makePdf } from '../../../sandbox/pdf/make-pdf.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { consentCallerOf } from '../consent-caller.ts';

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ now: () => Date.parse('2026-03-01T12:00:00Z') });
});
afterAll(() => sandbox.close());

const addressOf = async (): Promise<string> => {
  const caller = consentCallerOf(sandbox);
  const path = `/api/v1/consents/${await caller.consent()}/pdf`;
  return (await caller.get(await caller.taskToken(), path)).body.data.url;
};

test('the URL serves a PDF without a token, and expires after five minutes', async () => {
  const url = await addressOf();
  const control = sandboxControl(sandbox.baseUrl);
  await control.advanceClock(299);
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(await response.text()).toMatch(/^%PDF-1\.4[\s\S]*%%EOF\n$/);
  await control.advanceClock(1);
  expect((await fetch(url)).status).toBe(403);
});

test('an altered URL is refused', async () => {
  const url = new URL(await addressOf());
  url.searchParams.set('expires', '99999999999999');
  expect((await fetch(url)).status).toBe(403);
  expect((await fetch(url.origin + url.pathname)).status).toBe(403);
});

test('the PDF’s cross-reference table points at its objects', () => {
  const pdf = makePdf(['Parentheses (and) a back\\slash', 'ñ']);
  const start = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
  expect(pdf.slice(start, start + 4)).toBe('xref');
  const offsets = [...pdf.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
  expect(offsets.map((offset) => pdf.slice(offset, offset + 7))).toEqual(
    [1, 2, 3, 4, 5].map((n) => `${n} 0 obj`),
  );
  expect(pdf).toContain(String.raw`(Parentheses \(and\) a back\\slash)`);
  expect(Number(/Length (\d+)/.exec(pdf)?.[1])).toBe(/stream\n([\s\S]*)\nendstream/.exec(pdf)?.[1]?.length);
});
