import { describe, expect, test } from 'vitest';
import { terminalStatuses } from '../../../../lib/extraction/record.ts';
import {
  knownCredentials,
  markCredentials,
  markFor,
  refusedBefore,
} from '../../../../lib/extraction/refusals.ts';
import type { SealedCredentialsData } from '../../../../lib/extraction/sealed-request-data.ts';
import type { Task } from '../../../../lib/extraction/store.ts';
import { at, clock, extraction, iso } from '../../../support/extraction-fixtures.ts';
import { memoryRefusalStore } from '../../../support/memory-refusal-store.ts';
import { memoryTaskStore } from '../../../support/memory-task-store.ts';

const day = 86_400;
const task: Task = {
  taskId: 'task-1',
  extractionId: 'extraction-1',
  credentialsMac: 'mac',
  notifiedAt: iso(30),
};
const confirmed = { ...task, isConfirmed: true } as const;
const mark = {
  credentialsMac: 'mac',
  extractionId: 'extraction-1',
  noticedAt: iso(30),
  isRefused: true,
  expiresAt: at(30).getTime() / 1000 + 7 * day,
};

describe('the MAC of credentials', () => {
  const known = (sealed: SealedCredentialsData, fields = {}, keptDays = 7) =>
    knownCredentials(extraction(fields), sealed, { key: async () => 'key', keptDays });
  const raw = (value: Record<string, unknown>): SealedCredentialsData => ({
    credentials: { mode: 'raw', value },
  });

  test('is of raw ones only, for their caller and entity', async () => {
    const { credentialsMac } = await known(raw({ username: 'ana', password: 'x' }));
    expect(credentialsMac).toMatch(/^[0-9a-f]{32}$/);
    expect(await known(raw({ password: 'x', username: 'ana' }))).toEqual({ credentialsMac });
    for (const [value, fields] of [
      [{ username: 'ana', password: 'y' }, {}],
      [{ username: 'ana', password: 'x' }, { entity: 'other-bank' }],
      [{ username: 'ana', password: 'x' }, { requestedBy: 'other-caller' }],
    ] as const) {
      expect((await known(raw(value), fields)).credentialsMac).not.toBe(credentialsMac);
    }
    const confirmed = { ...raw({ username: 'ana', password: 'x' }), confirmed: true } as const;
    expect(await known(confirmed)).toEqual({ credentialsMac, isConfirmed: true });
  });

  test('is not made of ciphertext, nor where the setting is 0, and the key is not read', async () => {
    const key = (): never => {
      throw new Error('The key was read.');
    };
    for (const mode of ['encrypted', 'persisted'] as const) {
      const sealed = { credentials: { mode, value: 'ciphertext' } };
      expect(await knownCredentials(extraction(), sealed, { key, keptDays: 7 })).toEqual({});
    }
    expect(await knownCredentials(extraction(), raw({ a: 1 }), { key, keptDays: 0 })).toEqual({});
  });
});

describe('a final status', () => {
  const markOf = (one: Task, taskStatus: (typeof terminalStatuses)[number], seconds = 40, keptDays = 7) =>
    markFor(one, taskStatus, { now: at(seconds), keptDays });

  test.each(terminalStatuses)('%s marks refused credentials only if the password was wrong', (status) => {
    expect(markOf(task, status)).toEqual(status === 'CREDENTIALS_WRONG' ? mark : undefined);
  });

  test.each(terminalStatuses)('%s marks confirmed ones as right only where it shows that', (status) => {
    const isRight = status === 'COMPLETED' || status === 'PARTIAL';
    const expected = isRight
      ? { ...mark, isRefused: false }
      : status === 'CREDENTIALS_WRONG'
        ? mark
        : undefined;
    expect(markOf(confirmed, status)).toEqual(expected);
  });

  test('marks from the first notice on, or from now if a read was first', () => {
    expect(markOf(task, 'CREDENTIALS_WRONG', 3_600)).toEqual(mark);
    const { notifiedAt: _notifiedAt, ...read } = task;
    expect(markOf(read, 'CREDENTIALS_WRONG')?.noticedAt).toBe(iso(40));
  });

  test.each([
    ['past the end of the mark', task, 30 + 7 * day, 7],
    ['where the setting is 0', task, 40, 0],
    ['a second time', { ...task, refusedAt: iso(30) }, 40, 7],
    ['of a task that another process adopted', { taskId: 'task-1', extractionId: 'extraction-1' }, 40, 7],
  ])('marks nothing %s', (_, one, seconds, keptDays) => {
    expect(markOf(one, 'CREDENTIALS_WRONG', seconds, keptDays)).toBeUndefined();
  });
});

test('a refusal is marked once for its task, and kept from a start for its days', async () => {
  const [refusals, tasks, time] = [memoryRefusalStore(), memoryTaskStore(), clock(40)];
  tasks.items.set('task-1', task);
  const deps = { refusals, tasks, keptDays: 7, now: time.now };
  const known = { credentialsMac: 'mac' };
  expect(await refusedBefore(known, deps)).toBe(false);

  await markCredentials(task, 'CREDENTIALS_WRONG', deps);
  expect(tasks.items.get('task-1')).toEqual({ ...task, refusedAt: iso(30) });
  expect(await refusedBefore(known, deps)).toBe(true);
  expect(await refusedBefore({ ...known, isConfirmed: true }, deps)).toBe(false);
  expect(await refusedBefore({}, deps)).toBe(false);

  refusals.items.clear();
  await markCredentials(
    await tasks.recordStatus({ ...task, taskStatus: 'CREDENTIALS_WRONG', notifiedAt: iso(50) }),
    'CREDENTIALS_WRONG',
    deps,
  );
  expect(refusals.items.size).toBe(0);

  refusals.items.set('mac', mark);
  time.set(30 + 7 * day - 1);
  expect(await refusedBefore(known, deps)).toBe(true);
  time.set(30 + 7 * day);
  expect(await refusedBefore(known, deps)).toBe(false);
});

test('a late refusal does not outweigh that confirmed credentials were accepted after it', async () => {
  const [refusals, tasks, time] = [memoryRefusalStore(), memoryTaskStore(), clock(90)];
  const deps = { refusals, tasks, keptDays: 7, now: time.now };
  const accepted = { ...confirmed, taskId: 'task-2', extractionId: 'extraction-2', notifiedAt: iso(60) };
  await markCredentials(accepted, 'COMPLETED', deps);
  await markCredentials(task, 'CREDENTIALS_WRONG', deps);
  expect(await refusedBefore({ credentialsMac: 'mac' }, deps)).toBe(false);

  const later = { ...task, taskId: 'task-3', extractionId: 'extraction-3', notifiedAt: iso(80) };
  await markCredentials(later, 'CREDENTIALS_WRONG', deps);
  expect(await refusedBefore({ credentialsMac: 'mac' }, deps)).toBe(true);
});

test('a process that ends after the mark leaves it to the next one, which writes no second mark', async () => {
  const calls: string[] = [];
  const refusals = memoryRefusalStore({ after: ({ method }) => void calls.push(method) });
  const failing = memoryTaskStore({
    before: () => {
      throw new Error('The process ends.');
    },
  });
  const { notifiedAt: _notifiedAt, ...read } = task;
  const deps = { refusals, tasks: failing, keptDays: 7, now: () => at(40) };
  await expect(markCredentials(read, 'CREDENTIALS_WRONG', deps)).rejects.toThrow();
  await markCredentials(read, 'CREDENTIALS_WRONG', { ...deps, tasks: memoryTaskStore(), now: () => at(50) });
  expect(calls).toEqual(['put', 'put']);
  expect(refusals.items.get('mac')?.noticedAt).toBe(iso(40));
});
