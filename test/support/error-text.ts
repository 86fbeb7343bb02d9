/** Everything that an error says of itself and of its causes: what a log or a history might come to hold. */
export const errorText = (error: unknown): string => {
  const told: string[] = [];
  let rest = error;
  for (let depth = 0; rest instanceof Error && depth < 10; depth += 1) {
    told.push(rest.name, rest.message, rest.stack ?? '', JSON.stringify({ ...rest }));
    rest = rest.cause;
  }
  return told.join('\n');
};
