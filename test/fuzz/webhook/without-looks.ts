import type { State } from './webhook-world.ts';

/** The rows less `openUntil`, when the sweep looks: that may come sooner without anything being other. */
export const withoutLooks = ({ extractions, tasks }: State) => ({
  extractions: new Map([...extractions].map(([id, { openUntil: _openUntil, ...row }]) => [id, row] as const)),
  tasks,
});
