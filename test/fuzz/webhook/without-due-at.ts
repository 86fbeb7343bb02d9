import type { State } from './webhook-world.ts';

/** The records without `dueAt`, which may be earlier although nothing else differs. */
export const withoutDueAt = ({ extractions, tasks }: State) => ({
  extractions: new Map([...extractions].map(([id, { dueAt: _dueAt, ...record }]) => [id, record] as const)),
  tasks,
});
