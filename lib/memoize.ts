/** Returns a call that is made once. Its result is kept, and a failure too. */
export const memoize = <Result>(call: () => Promise<Result>): (() => Promise<Result>) => {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= call();
    return result;
  };
};
