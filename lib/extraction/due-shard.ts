/** Partitions of the index `due`: one takes 1,000 writes/s, and its throttle would reach the table. */
export const dueShardCount = 16;

/** FNV-1a over the id's UTF-16 units: spreads UUIDs evenly, needs no crypto, and never changes. */
export const dueShardOf = (extractionId: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < extractionId.length; index += 1) {
    hash = Math.imul(hash ^ extractionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % dueShardCount;
};
