import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../../bench/ledger/ledger.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cosecha-ledger-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const write = (file: string, text: string) => appendFileSync(join(directory, file), text);
const line = (endedAt: number): string => `${JSON.stringify({ endedAt })}\n`;

describe('the ledger', () => {
  it('has the entries of all processes in the order in which they ended', () => {
    write('1.jsonl', line(1) + line(4));
    write('2.jsonl', line(3));
    expect(openLedger(directory).entries()).toMatchObject([{ endedAt: 1 }, { endedAt: 3 }, { endedAt: 4 }]);
  });

  it('returns the same object for an entry each time', () => {
    const ledger = openLedger(directory);
    write('1.jsonl', line(1));
    const [first] = ledger.entries();
    write('1.jsonl', line(2));
    expect(ledger.entries()[0]).toBe(first);
    expect(ledger.entries()).toHaveLength(2);
  });

  it('ignores a line that is still being written', () => {
    write('1.jsonl', `${line(1)}{"ended`);
    expect(openLedger(directory).entries()).toHaveLength(1);
  });

  it('resolves when there are enough entries', async () => {
    const ledger = openLedger(directory);
    const enough = ledger.atLeast(2, ({ endedAt }) => endedAt > 1, AbortSignal.timeout(10_000));
    write('1.jsonl', line(1) + line(2));
    write('2.jsonl', line(3));
    await expect(enough).resolves.toBeUndefined();
  });

  it('stops waiting when the signal aborts', async () => {
    const stop = new AbortController();
    const never = openLedger(directory).atLeast(1, () => true, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(never).rejects.toThrow('stopped');
  });
});
