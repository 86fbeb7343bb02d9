/** Calls once, and keeps the result. A failure is kept too. */
export const memoize = <Result>(call: () => Promise<Result>): (() => Promise<Result>) => {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= call();
    return result;
  };
};
