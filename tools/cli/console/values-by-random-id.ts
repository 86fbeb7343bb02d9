import { randomBytes } from 'node:crypto';

/** A text that cannot be guessed: 192 bits, as 32 characters. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Values that pages and forms name by an id that cannot be guessed, for ten minutes. */
export type ShortLived<Value> = {
  readonly keep: (value: Value) => string;
  readonly find: (id: string | null) => Value | undefined;
  /** As `find`, and removes it, so that it is found once. */
  readonly take: (id: string) => Value | undefined;
};

/** A form is confirmed within this time. It is as long as a presigned link is valid, with some time to read. */
const keptMs = 10 * 60_000;

/** @param most more values than anybody makes in that time. The oldest go first */
export const createShortLived = <Value>(most: number, now: () => Date): ShortLived<Value> => {
  const kept = new Map<string, { readonly value: Value; readonly until: number }>();
  const find = (id: string | null): Value | undefined => {
    const found = id === null ? undefined : kept.get(id);
    return found !== undefined && found.until > now().getTime() ? found.value : undefined;
  };
  return {
    keep: (value) => {
      const id = newToken();
      kept.set(id, { value, until: now().getTime() + keptMs });
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return id;
    },
    find,
    take: (id) => {
      const found = find(id);
      kept.delete(id);
      return found;
    },
  };
};
