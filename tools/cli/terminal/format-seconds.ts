const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration in its two largest units, such as `3 h 5 min`. */
export const formatSeconds = (seconds: number): string => {
  let rest = Math.max(0, Math.round(seconds));
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return { unit, count };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ unit, count }) => `${count} ${unit}`)
    .join(' ');
};

export const secondsSince = (time: string, now: Date): number =>
  (now.getTime() - new Date(time).getTime()) / 1000;
