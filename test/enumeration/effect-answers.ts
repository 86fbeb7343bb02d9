import type { Observation, Reading, Unread } from '#lib/extraction/plan.ts';
import { type Extraction, type TerminalStatus, terminalStatuses } from '#lib/extraction/record.ts';
import type { Effect } from '#lib/extraction/run.ts';

const ended = (
  taskStatus: TerminalStatus,
  results: 'none' | 'part' | 'all',
  { reason, expected = true }: { readonly reason?: string; readonly expected?: boolean } = {},
): Reading => ({
  kind: 'ended',
  taskStatus,
  results,
  expected,
  reason,
  actionResults: undefined,
});

const readingsOf = ({ method }: Extraction): readonly Reading[] => [
  { kind: 'running', known: true },
  { kind: 'running', known: false },
  { kind: 'too-large', taskStatus: method === 'consent' ? 'COMPLETED' : undefined },
  ended('COMPLETED', 'all'),
  ended('COMPLETED', 'none'),
  ended('COMPLETED', 'all', { expected: false }),
  ended('COMPLETED', 'part'),
  ended('FAILED', 'none', method === 'consent' ? { reason: 'CODE' } : {}),
  ended('FAILED', 'all'),
];

const unreadFor = ({ method }: Extraction, isMade: boolean): readonly Unread[] => {
  const held = { unread: 'not-now', explanation: 'reads-paused' } as const;
  const impossible = (code: 'InternalError' | 'request-data-gone') =>
    ({ unread: 'impossible', problem: code, explanation: code }) as const;
  if (!isMade) return [held, impossible('InternalError')];
  const failed = { unread: 'failed', problem: 'unreachable', explanation: 'ProviderUnreachable' } as const;
  return method === 'consent' ? [held, failed, impossible('request-data-gone')] : [held, failed];
};

/** Every answer that an effect can have. At its start, a task may have ended in any way. */
export const answersTo = (effect: Effect, record: Extraction, isStart: boolean): readonly Observation[] => {
  switch (effect.kind) {
    case 'find-request':
      return [true, false].map((isThere) => ({ kind: 'request', isThere, reason: effect.reason }));
    case 'find-task': {
      const { taskId } = effect;
      const task = { kind: 'task', taskId } as const;
      const statuses = isStart ? terminalStatuses : (['COMPLETED', 'FAILED'] as const);
      return [
        { ...task, taskStatus: undefined, isOwn: false, isNew: false },
        { ...task, taskStatus: 'PENDING', isOwn: true, isNew: false },
        { ...task, taskStatus: undefined, isOwn: true, isNew: true },
        ...statuses.map((taskStatus) => ({ ...task, taskStatus, isOwn: true, isNew: true })),
      ];
    }
    case 'read':
    case 'last-read':
    case 'no-read': {
      const read = effect.kind === 'no-read' ? undefined : ({ kind: 'read', taskId: effect.taskId } as const);
      return [
        ...(read === undefined ? [] : readingsOf(record).map((reading) => ({ ...read, reading }))),
        ...unreadFor(record, read !== undefined).map((unread) => ({ kind: 'unread', ...unread }) as const),
      ];
    }
    case 'store': {
      const { reading } = effect;
      const results = { bucket: 'results', key: 'key', bytes: 2, sha256: '00' };
      return [
        { kind: 'stored', reading, results },
        { kind: 'stored', reading, results: undefined },
      ];
    }
  }
};
