/** All text of an error and its causes that a log or a history might contain. */
export const errorText = (error: unknown): string => {
  const parts: string[] = [];
  let rest = error;
  for (let depth = 0; rest instanceof Error && depth < 10; depth += 1) {
    parts.push(rest.name, rest.message, rest.stack ?? '', JSON.stringify({ ...rest }));
    rest = rest.cause;
  }
  return parts.join('\n');
};
