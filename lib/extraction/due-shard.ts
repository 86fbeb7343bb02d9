/**
 * Partitions of the index `due`. One partition accepts 1,000 writes/s, and its throttling would slow down the table.
 */
export const dueShardCount = 16;

/**
 * The shard of an extraction: FNV-1a over the UTF-16 units of its id. It distributes UUIDs evenly and must never
 * change.
 */
export const dueShardOf = (extractionId: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < extractionId.length; index += 1) {
    hash = Math.imul(hash ^ extractionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % dueShardCount;
};
