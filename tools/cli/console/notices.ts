import type { ActionResult } from './actions.ts';

/** What a form did, for the page that it returns to. */
export type Notice =
  | { readonly kind: 'done'; readonly label: string; readonly result: ActionResult }
  | { readonly kind: 'not-done'; readonly label: string; readonly why: string };

/** Notices wait for the page after a form, which names one by an id that cannot be guessed. */
export type Notices = {
  readonly keep: (notice: Notice) => string;
  readonly find: (id: string | null) => Notice | undefined;
};

/** As long as a presigned link is valid, with some time to read. */
const keptMs = 10 * 60_000;

/** More forms than anybody sends in that time. The oldest notices go first. */
const mostNotices = 100;

/** @param random a text that cannot be guessed, new at each call */
export const createNotices = (random: () => string, now: () => Date): Notices => {
  const kept = new Map<string, { readonly notice: Notice; readonly until: number }>();
  return {
    keep: (notice) => {
      const id = random();
      kept.set(id, { notice, until: now().getTime() + keptMs });
      const [oldest] = kept.keys();
      if (kept.size > mostNotices && oldest !== undefined) kept.delete(oldest);
      return id;
    },
    find: (id) => {
      const found = id === null ? undefined : kept.get(id);
      return found !== undefined && found.until > now().getTime() ? found.notice : undefined;
    },
  };
};
