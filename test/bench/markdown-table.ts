/** Formats a number: integers as they are, others with two decimals, from 100 on with one. Ignores rounding errors. */
export const figure = (value: number): string => {
  const rounded = Number(value.toFixed(6));
  return Number.isInteger(rounded) ? String(rounded) : value.toFixed(Math.abs(value) < 100 ? 2 : 1);
};

const isFigures = (cells: readonly string[]): boolean =>
  cells.every((cell) => /^(-?\d.*|Infinity|)$/.test(cell));

/**
 * A Markdown table, for docs. The first row is its header. Columns of figures are right-aligned.
 */
export const markdownTable = ([head = [], ...body]: readonly (readonly string[])[]): string => {
  const columns = head.map((title, index) => {
    const cells = body.map((row) => row[index] ?? '');
    return {
      isRight: isFigures(cells),
      width: Math.max(3, ...[title, ...cells].map(({ length }) => length)),
    };
  });
  const line = (row: readonly string[]): string => {
    const cells = columns.map(({ isRight, width }, index) =>
      isRight ? (row[index] ?? '').padStart(width) : (row[index] ?? '').padEnd(width),
    );
    return `| ${cells.join(' | ')} |`;
  };
  const rule = columns.map(({ isRight, width }) =>
    isRight ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [head, rule, ...body].map(line).join('\n');
};
