import { eraseMessages } from '#lib/extraction/erase/erase-messages.ts';
import type { SendErase } from '#lib/extraction/erase/erasure.ts';
import { erasedKey, restore } from '#lib/extraction/operate/restore.ts';
import { erasureStoreOver } from '../../support/stores/memory-erasure-store.ts';
import { eraseTaskIn } from '../../support/stores/memory-task-store.ts';
import type { Process } from '../world/process.ts';
import { eraseLife, timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { endWaitFor } from './line.ts';
import { tablesFor } from './tables.ts';

/** What the places of an extraction do for one process. Each call of AWS takes effect at a time of its own. */
const removalsFor = (world: World, process: Process) => {
  const { kernel, erasing } = world;
  const write = <T>(name: string, take: () => T): Promise<T> =>
    kernel.call(process, { name, kind: 'write', take });
  const read = <T>(name: string, take: () => T): Promise<T> =>
    kernel.call(process, { name, kind: 'read', take });
  return {
    removeRecord: (record: Parameters<World['removeErased']>[0]) =>
      write('delete record', () => world.removeErased(record, process)),
    getMac: (taskId: string, extractionId: string) =>
      read('get task', () => {
        const task = world.tasks.get(taskId);
        return task?.extractionId === extractionId ? task.credentialsMac : undefined;
      }),
    removeMark: (mac: string) =>
      write('remove mark', () => {
        world.refusals.delete(mac);
      }),
    eraseTask: (taskId: string, extractionId: string) =>
      write('erase task', () => eraseTaskIn(world.tasks, taskId, extractionId)),
    removeRepeats: (extractionId: string) =>
      write('delete repeats', () => void world.repeats.delete(extractionId)),
    removeResults: async () => {
      const listed = await read('list objects', () => [...erasing.objects]);
      await write('delete objects', () => {
        for (const [key, stored] of listed) {
          if (erasing.objects.get(key) === stored) erasing.objects.delete(key);
        }
      });
      return listed.length;
    },
  };
};

const sendEraseFor =
  (world: World, process: Process): SendErase =>
  (message, _askedBy, delaySeconds = 0) =>
    world.kernel.call<void>(process, {
      name: 'send a message of an erasure',
      kind: 'write',
      take: () => world.erasing.accept(message, delaySeconds),
    });

/** erase-extractions, and what an operator does with a backup. */
export const eraseOf = (world: World) => {
  let invocations = 0;
  const consume = (body: string, ended: (done: boolean) => void): void => {
    invocations += 1;
    const { kernel, erasing } = world;
    kernel.spawn(
      `erase ${invocations}`,
      eraseLife,
      (process) =>
        eraseMessages([{ messageId: 'message', body }], {
          ...tablesFor(world, process),
          index: { find: async () => ({ entries: [] }) },
          ...endWaitFor(world, process),
          removals: removalsFor(world, process),
          erasures: erasureStoreOver(erasing, ({ method, key }, effect) =>
            kernel.call(process, {
              name: `${method} ${key}`,
              kind: method === 'get' ? 'read' : 'write',
              take: effect,
            }),
          ),
          send: sendEraseFor(world, process),
          now: world.now,
          timings,
          telemetry: world.telemetry,
        }),
      (end) => ended(end.kind === 'returned' && end.value.batchItemFailures.length === 0),
    );
  };
  /** An operator copies from a backup what the table does not have. */
  const restoreBackup = (): void => {
    const { kernel, erasing, extractions } = world;
    const current = world.record?.requestId;
    const known = new Set([...erasing.tombstones.values()].map(({ requestId }) => requestId));
    const backup = [...erasing.backup.values()].filter(
      ({ requestId }) => requestId === current || known.has(requestId),
    );
    const pages = async function* () {
      yield* backup.map((record) => [record]);
    };
    kernel.spawn(
      'restore',
      eraseLife,
      (process) => {
        const { requests } = tablesFor(world, process);
        const tombstones = [...erasing.tombstones.values()];
        const removed = tombstones.filter(({ removingAt, erasedAt }) => removingAt ?? erasedAt);
        let at = 0;
        return restore([pages()], {
          requests,
          erased: new Set(removed.map(erasedKey)),
          dryRun: false,
          now: world.now,
          recordRetention: timings.recordRetention,
          find: async () => [],
          createMissing: async (records) =>
            records.flatMap((record) => {
              const live = extractions.get(record.extractionId);
              if (live !== undefined) return [live];
              extractions.set(record.extractionId, record);
              return [];
            }),
          onRecord: (_id, kind) => {
            const record = backup[at];
            at += 1;
            if (record !== undefined) world.state('copied', { record, kind });
          },
        });
      },
      () => undefined,
    );
  };
  return { consumeErasure: consume, restoreBackup };
};
