/** Returns a read whose result is kept for `seconds`. A failure is not kept. */
export const cachedRead = <Value>(
  seconds: number,
  now: () => Date,
  read: () => Promise<Value>,
): (() => Promise<Value>) => {
  let last: { readonly value: Promise<Value>; readonly until: number } | undefined;
  return () => {
    if (last !== undefined && now().getTime() < last.until) return last.value;
    const value = read();
    last = { value, until: now().getTime() + seconds * 1_000 };
    value.catch(() => {
      last = undefined;
    });
    return value;
  };
};
