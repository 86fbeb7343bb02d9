import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dollarsPerMillion } from '#lib/observability/dollars-per-million.ts';
import { closedExtraction, consentIn, extractionIn, iso } from '#support/data/extraction-fixtures.ts';
import { usageOf } from '#tools/cli/commands/usage.ts';
import { flatten, propertiesOf, synthesize } from '../../../infra/synth.ts';

const ended = { settledAt: iso(30) } as const;
const mine = { requestedBy: 'arn:aws:sts::111122223333:assumed-role/Mine' } as const;

test('each caller has for each bank how many were requested, how they ended and what they cost, the most first', () => {
  const records = [
    closedExtraction({ status: 'COMPLETED', ...ended, ...mine }),
    closedExtraction({ status: 'COMPLETED', ...ended }),
    closedExtraction({ status: 'CREDENTIALS_WRONG', ...ended }),
    closedExtraction({ status: 'FAILED', ...ended }),
    extractionIn('REJECTED', { reason: 'http-400' }),
    extractionIn('RUNNING'),
    consentIn('RUNNING'),
  ];
  const counts = { open: 1, well: 1, user: 1, caller: 1, failed: 1 };
  const dollars = (5 * dollarsPerMillion.credentials) / 1e6;
  const [first, ...others] = usageOf(records);
  expect(first).toMatchObject({ entity: 'bank', extractions: 5, ...counts, dollars });
  expect(others).toMatchObject([
    { ...mine, extractions: 1, well: 1 },
    { product: 'movement', extractions: 1, open: 1, dollars: dollarsPerMillion.consent / 1e6 },
  ]);
});

test('what a million cost is as the page has it', () => {
  const page = readFileSync('docs/performance.md', 'utf8');
  const [, credentials, , , consent] =
    /\| total +\| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \|/.exec(page) ?? [];
  expect(dollarsPerMillion).toEqual({ credentials: Number(credentials), consent: Number(consent) });
});

test('the saved query reads the logs of requests and outcomes, by caller, bank and status', () => {
  const { template } = synthesize();
  const [query] = propertiesOf(template, 'AWS::Logs::QueryDefinition');
  expect(query).toMatchObject({ Name: 'Cosecha-prod/usage' });
  const groups = flatten(query?.LogGroupNames);
  for (const name of ['RequestExtraction', 'StartTask', 'ReceiveWebhook', 'ReconcileExtraction'])
    expect(groups).toContain(`${name}Log`);
  expect(query?.QueryString).toContain(`* ${dollarsPerMillion.credentials / 1e6} as dollars by`);
  expect(query?.QueryString).toContain('message in ["Extraction requested.", "Extraction ended."]');
  expect(query?.QueryString).toMatch(/ by caller, bank, what \| sort extractions desc$/);
  // What the emulator would not create.
  expect(propertiesOf(synthesize({ stage: 'local' }).template, 'AWS::Logs::QueryDefinition')).toEqual([]);
});
