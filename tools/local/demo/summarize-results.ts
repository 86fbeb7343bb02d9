type Action = { id?: unknown; status?: unknown; output?: unknown };
type Results = { actions?: Action[] } | unknown[] | null;

/** One line per action, or one for a product, with the number of items and without any bank data. */
export const summarizeResults = (body: string): string => {
  const { results, data = results } = JSON.parse(body) as { results?: Results; data?: Results };
  // By consent: "`results` array", or `data` in the v2 variant.
  if (Array.isArray(data)) return `items: ${data.length}`;
  const lines = (data?.actions ?? []).map(({ id, status, output }) => `${id}: ${status}${sizeOf(output)}`);
  return lines.join('\n') || 'no actions';
};

const sizeOf = (output: unknown): string => {
  if (Array.isArray(output)) return `, items: ${output.length}`;
  if (typeof output !== 'object' || output === null) return '';
  const lists = Object.entries(output).flatMap(([name, value]) =>
    Array.isArray(value) ? `, ${name}: ${value.length}` : [],
  );
  return lists.join('');
};
