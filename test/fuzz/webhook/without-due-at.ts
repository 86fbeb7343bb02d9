import type { State } from './webhook-world.ts';

/** The rows less `dueAt`, when the sweep looks: that may come sooner without anything being other. */
export const withoutDueAt = ({ extractions, tasks }: State) => ({
  extractions: new Map([...extractions].map(([id, { dueAt: _dueAt, ...row }]) => [id, row] as const)),
  tasks,
});
