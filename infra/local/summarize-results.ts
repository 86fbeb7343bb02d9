type Action = { id?: unknown; status?: unknown; output?: unknown };

/** A line per action with the size of what it brought, never the bank data itself. */
export function summarizeResults(body: string): string {
  const { results } = JSON.parse(body) as { results?: { actions?: Action[] } | null };
  const lines = (results?.actions ?? []).map(({ id, status, output }) => `${id}: ${status}${sizeOf(output)}`);
  return lines.join('\n') || 'no actions';
}

function sizeOf(output: unknown): string {
  if (Array.isArray(output)) return `, items: ${output.length}`;
  if (typeof output !== 'object' || output === null) return '';
  const lists = Object.entries(output).flatMap(([name, value]) =>
    Array.isArray(value) ? `, ${name}: ${value.length}` : [],
  );
  return lists.join('');
}
