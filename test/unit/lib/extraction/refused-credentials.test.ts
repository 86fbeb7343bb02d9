import { describe, expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';
import type { TerminalStatus } from '#lib/extraction/record.ts';
import {
  checkRefusalMark,
  knownCredentials,
  markCredentials,
  markCredentialsIfKnown,
  mergeMarks,
  withoutExtraction,
} from '#lib/extraction/refused-credentials.ts';
import type { SealedCredentialsData } from '#lib/extraction/sealed-request-data.ts';
import type { Task } from '#lib/extraction/store.ts';
import { at, clock, extraction, iso } from '../../../support/data/extraction-fixtures.ts';
import { memoryRefusedCredentialsStore } from '../../../support/stores/memory-refused-credentials-store.ts';
import { memoryTaskStore } from '../../../support/stores/memory-task-store.ts';

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
  extractionIds: ['extraction-1'],
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
    const repeated = { ...raw({ username: 'ana', password: 'x' }), confirmed: true } as const;
    expect(await known(repeated)).toEqual({ credentialsMac, isConfirmed: true });
  });

  // test/fuzz/credentials has every other value.
  test('is of every field where the documented names are missing', async () => {
    for (const name of ['username', 'password'])
      expect(await known(raw({ [name]: 'a', pin: '1' }))).not.toEqual(
        await known(raw({ [name]: 'a', pin: '2' })),
      );
  });
});

type Deps = Parameters<typeof checkRefusalMark>[1];

const isRefused = async (known: Parameters<typeof checkRefusalMark>[0], deps: Deps) =>
  (await checkRefusalMark(known, deps)).isRefused;

const setUp = (one: Task = task, seconds = 40, keptDays = 7) => {
  const [refusals, tasks, time] = [memoryRefusedCredentialsStore(), memoryTaskStore(), clock(seconds)];
  tasks.items.set(one.taskId, one);
  return { refusals, tasks, time, deps: { refusals, tasks, keptDays, now: time.now } };
};

describe('a final status', () => {
  const markOf = async (one: Task, taskStatus: TerminalStatus, seconds?: number, keptDays?: number) => {
    const { deps, refusals } = setUp(one, seconds, keptDays);
    await markCredentials(one, taskStatus, deps);
    return refusals.items.get('mac');
  };

  test.each([
    ['past the end of the mark', task, 30 + 7 * day, 7],
    ['where the setting is 0', task, 40, 0],
    ['of a task that another process adopted', { taskId: 'task-1', extractionId: 'extraction-1' }, 40, 7],
  ])('marks nothing %s', async (_, one, seconds, keptDays) => {
    expect(await markOf(one, 'CREDENTIALS_WRONG', seconds, keptDays)).toBeUndefined();
  });

  test('marks nothing of an extraction that was erased meanwhile', async () => {
    const { deps, refusals, tasks } = setUp();
    tasks.items.clear();
    await markCredentials(task, 'CREDENTIALS_WRONG', deps);
    expect([refusals.items.size, tasks.items.size]).toEqual([0, 0]);
  });
});

test('what an adopted task showed is marked once start-task has linked it, before or after', async () => {
  const adopted = { taskId: 'task-1', extractionId: 'extraction-1' };
  const link = { ...adopted, callbackToken: 'token', callbackAttempt: 0, credentialsMac: 'mac' };
  for (const linksFirst of [true, false]) {
    const { deps, refusals, tasks } = setUp(adopted);
    if (linksFirst) await tasks.link(link);
    await markCredentials(adopted, 'CREDENTIALS_WRONG', deps);
    expect(refusals.items.size).toBe(linksFirst ? 1 : 0);
    if (!linksFirst) await markCredentialsIfKnown(await tasks.link(link), deps);
    expect([...refusals.items.values()]).toMatchObject([
      { extractionIds: ['extraction-1'], isRefused: true },
    ]);
  }
});

test('a delivered status that is not final, or none, decides nothing', async () => {
  const { deps, tasks } = setUp();
  for (const taskStatus of [undefined, 'RUNNING'] as const)
    await markCredentialsIfKnown({ ...task, ...defined({ taskStatus }) }, deps);
  expect(tasks.items.get('task-1')).toEqual(task);
  await markCredentialsIfKnown({ ...task, taskStatus: 'CREDENTIALS_WRONG' }, deps);
  expect(tasks.items.get('task-1')).toMatchObject({ firstStatus: 'CREDENTIALS_WRONG', isMarked: true });
});

test('a refusal keeps the credentials from a start for its days, and no replay brings it back', async () => {
  const { deps, refusals, tasks, time } = setUp();
  const known = { credentialsMac: 'mac' };
  expect(await isRefused(known, deps)).toBe(false);
  await markCredentials(task, 'CREDENTIALS_WRONG', deps);
  const firstStatus = 'CREDENTIALS_WRONG';
  expect(tasks.items.get('task-1')).toEqual({ ...task, firstStatus, noticedAt: iso(30), isMarked: true });
  expect(await isRefused(known, deps)).toBe(true);
  expect(await isRefused({ ...known, isConfirmed: true }, deps)).toBe(false);
  time.set(30 + 7 * day - 1);
  expect(await isRefused(known, deps)).toBe(true);
  time.set(30 + 7 * day);
  expect(await isRefused(known, deps)).toBe(false);
  // Not even after what had replaced it was erased.
  time.set(90);
  refusals.items.clear();
  await markCredentials(tasks.items.get('task-1') ?? task, 'CREDENTIALS_WRONG', deps);
  expect(refusals.items.size).toBe(0);
});

test('the first status decides, whether a read or a delivery showed it, and a later one marks nothing', async () => {
  for (const [first, later] of [
    ['CREDENTIALS_WRONG', 'COMPLETED'],
    ['COMPLETED', 'CREDENTIALS_WRONG'],
  ] as const) {
    const { deps, refusals, tasks } = setUp();
    const { notifiedAt: _notifiedAt, ...read } = task;
    await markCredentials(read, first, deps);
    const marks = [...refusals.items.values()];
    expect(marks).toHaveLength(first === 'CREDENTIALS_WRONG' ? 1 : 0);
    const delivered = await tasks.recordStatus({ taskId: 'task-1', taskStatus: later, notifiedAt: iso(50) });
    await markCredentials(delivered, later, deps);
    // Also by a process that does not know the first one.
    await markCredentials(read, later, deps);
    expect([...refusals.items.values()]).toEqual(marks);
  }
});

test('what confirmed credentials show counts after the mark that their start read, if a clock was ahead', async () => {
  const { deps, refusals, tasks, time } = setUp({ ...task, notifiedAt: iso(220) });
  time.set(220);
  await markCredentials({ ...task, notifiedAt: iso(220) }, 'CREDENTIALS_WRONG', deps);
  time.set(60);
  const { known } = await checkRefusalMark({ credentialsMac: 'mac', isConfirmed: true }, deps);
  expect(known).toEqual({ credentialsMac: 'mac', isConfirmed: true, afterMark: iso(220) });
  const accepted = {
    ...confirmed,
    ...known,
    taskId: 'task-2',
    extractionId: 'extraction-2',
    notifiedAt: iso(60),
  };
  tasks.items.set('task-2', accepted);
  await markCredentials(accepted, 'COMPLETED', deps);
  expect(await isRefused({ credentialsMac: 'mac' }, deps)).toBe(false);
  expect(refusals.items.get('mac')).toMatchObject({ isRefused: false, extractionIds: ['extraction-2'] });
  // A refusal of a start that read this is later again, although its clock is behind.
  const again = { ...task, taskId: 'task-3', extractionId: 'extraction-3', notifiedAt: iso(61) };
  const { known: seen } = await checkRefusalMark({ credentialsMac: 'mac' }, deps);
  tasks.items.set('task-3', { ...again, ...seen });
  await markCredentials({ ...again, ...seen }, 'CREDENTIALS_WRONG', deps);
  expect(await isRefused({ credentialsMac: 'mac' }, deps)).toBe(true);
});

test('a mark knows every extraction that showed the same, so that the erasure of one leaves the others', () => {
  const later = {
    ...mark,
    extractionIds: ['extraction-2'],
    noticedAt: iso(50),
    expiresAt: mark.expiresAt + 20,
  };
  const both = mergeMarks(mark, later);
  expect(both).toEqual({ ...later, extractionIds: ['extraction-1', 'extraction-2'] });
  expect(mergeMarks(later, mark)).toEqual({ ...later, extractionIds: ['extraction-2', 'extraction-1'] });
  expect(both && mergeMarks(both, later)).toBeUndefined();
  expect(both && withoutExtraction(both, 'extraction-2')).toEqual({
    ...both,
    extractionIds: ['extraction-1'],
  });
  expect(withoutExtraction(mark, 'extraction-1')).toBeUndefined();
  const right = { ...later, isRefused: false };
  expect(mergeMarks(mark, right)).toEqual(right);
  expect(mergeMarks(right, mark)).toBeUndefined();
  const many = Array.from({ length: 50 }, (_, index) => `many-${index}`);
  const full = mergeMarks({ ...mark, extractionIds: many }, later)?.extractionIds;
  expect(full).toEqual([...many.slice(1), 'extraction-2']);
});
