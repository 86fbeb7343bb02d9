/** The file name of a rule that applies to `requests` more requests. */
export const ruleName = (id: string, requests: number): string => `${id}.${requests}.json`;

/** The parts of a rule's file name. Undefined for any other file. */
export const parseRuleName = (
  file: string,
): { readonly id: string; readonly requests: number } | undefined => {
  const [, id, requests] = /^([^.]+)\.(\d+)\.json$/.exec(file) ?? [];
  return id === undefined ? undefined : { id, requests: Number(requests) };
};
