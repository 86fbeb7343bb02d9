import { type MovementItem, movementOn } from './movement-output.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Three transfers of the last three days. `tef` takes no range. The document's sample has the shape of a movement. */
export const tefOutput = (username: string, at: number): MovementItem[] =>
  [3, 2, 1].map((daysAgo) =>
    movementOn(username, new Date(at - daysAgo * DAY_MS).toISOString().slice(0, 10)),
  );
