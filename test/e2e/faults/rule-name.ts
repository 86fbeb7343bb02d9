/** The file of a rule that waits for so many requests more, those that it lets through included. */
export const ruleName = (id: string, requests: number): string => `${id}.${requests}.json`;

/** What the name of a rule's file says; undefined for any other file. */
export const parseRuleName = (
  file: string,
): { readonly id: string; readonly requests: number } | undefined => {
  const [, id, requests] = /^([^.]+)\.(\d+)\.json$/.exec(file) ?? [];
  return id === undefined ? undefined : { id, requests: Number(requests) };
};
