import type { SystemEvent } from './watch-system.ts';

/** The end of an id, as ids of the same minute begin alike (UUIDv7). */
export const shortId = (extractionId: string): string => extractionId.slice(-8);

/**
 * Names the extraction of each event by the end of its id. Undefined for a call to the provider that belongs to none, or to
 * one whose task the stream has not reported yet.
 */
export const nameExtractions = (): ((event: SystemEvent) => string | undefined) => {
  const byTask = new Map<string, string>();
  return (event) => {
    if (event.source !== 'provider') {
      const name = shortId(event.extractionId);
      const taskId = event.source === 'stream' ? event.record.dynamodb?.NewImage?.taskId?.S : undefined;
      if (taskId !== undefined) byTask.set(taskId, name);
      return name;
    }
    const { event: its } = event;
    if (its.type === 'call') return byTask.get(its.call.taskId ?? '');
    return 'taskId' in its ? byTask.get(its.taskId) : undefined;
  };
};
