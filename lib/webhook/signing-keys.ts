/** The signing keys that a delivery may be signed with: the current one and the one before it. */
export type SigningKeys = {
  current(): Promise<readonly string[]>;
  /** Called after a mismatch: fetches again, but no more often than allowed. Undefined: not yet allowed. */
  refreshed(): Promise<readonly string[] | undefined>;
};

/**
 * Caches the keys for the life of the process, and fetches them again after a mismatch, at most every
 * `refreshEveryMs`: shorter than the 30 s between two deliveries, so a rotation loses nothing, and long enough
 * that a flood of forgeries costs the secret store nothing. A failed fetch leaves what was known before.
 */
export const cacheSigningKeys = (options: {
  readonly fetchKeys: () => Promise<readonly string[]>;
  readonly refreshEveryMs: number;
  readonly now: () => Date;
}): SigningKeys => {
  let known: readonly string[] | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetchNow = async (): Promise<readonly string[]> => {
    triedAt = options.now().getTime();
    known = await options.fetchKeys();
    return known;
  };

  return {
    current: async () => known ?? fetchNow(),
    refreshed: async () =>
      options.now().getTime() - triedAt < options.refreshEveryMs ? undefined : fetchNow(),
  };
};
