import type { Story, StoryLine } from './story.ts';

/** This many equal lines in a row are shown. Of more, the first and the last are, with the number between them. */
export const maxAlike = 3;

const isAlike = (one: StoryLine, other: StoryLine): boolean =>
  one.source === other.source && one.what === other.what;

export const runsOf = <Line extends StoryLine>(lines: readonly Line[]): readonly (readonly Line[])[] => {
  const runs: Line[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (run?.[0] !== undefined && isAlike(run[0], line)) run.push(line);
    else runs.push([line]);
  }
  return runs;
};

const clock = (time: string): string => time.slice(11);

const details = ({ at, until, attempt, nextAt }: StoryLine): string => {
  const when = (time: string): string => (time.slice(0, 10) === at.slice(0, 10) ? clock(time) : time);
  const parts = [
    until === undefined ? [] : `until ${when(until)}`,
    attempt === undefined ? [] : `try ${attempt}`,
    nextAt === undefined ? [] : `next ${when(nextAt)}`,
  ].flat();
  return parts.length === 0 ? '' : `  [${parts.join(', ')}]`;
};

const sign = ({ verdict }: StoryLine): string => (verdict === undefined ? ' ' : verdict === 'ok' ? '✓' : '✗');

/** Less than this beside an indent would break every word. */
const narrowest = 16;

/** A line as several of at most `columns` characters. Those after the first are indented. */
const wrapped = (line: string, columns: number, indent: number): readonly string[] => {
  if (line.length <= columns) return [line];
  const by = columns - indent < narrowest ? 0 : indent;
  const space = line.lastIndexOf(' ', columns);
  // A word that is longer than the line, such as an ARN, is cut.
  const end = space > by ? space : columns;
  const rest = line.slice(end).trimStart();
  return [line.slice(0, end).trimEnd(), ...wrapped(`${' '.repeat(by)}${rest}`, columns, indent)];
};

/**
 * The story as text: the headline, a line for each thing that happened under its day, and what is missing.
 *
 * @param columns the width of the terminal, where there is one
 */
export const formatStory = (
  { status, extractionId, headline, lines, notShown }: Story,
  columns = Number.POSITIVE_INFINITY,
): readonly string[] => {
  const width = Math.max(0, ...lines.map(({ source }) => source.length));
  /** Of a time, a sign and the spaces between them. */
  const indent = 17 + width + 2;
  const text = (line: StoryLine): string =>
    `${clock(line.at)}  ${sign(line)} ${line.source.padEnd(width)}  ${line.what}${details(line)}`;
  const printed: string[] = [];
  let day = '';
  for (const run of runsOf(lines)) {
    const [first, ...rest] = run;
    const last = rest.at(-1);
    const middle = ' '.repeat(13);
    const shown =
      run.length <= maxAlike || last === undefined
        ? run.map(text)
        : [text(run[0] as StoryLine), `${middle}    ${run.length - 2} more of these`, text(last)];
    const today = (first?.at ?? '').slice(0, 10);
    if (today !== day) printed.push(today);
    day = today;
    printed.push(...shown.flatMap((one) => wrapped(one, columns, indent)));
  }
  return [
    `${extractionId}  ${status}`,
    ...wrapped(headline, columns, 0),
    ...(printed.length === 0 ? [] : ['', ...printed]),
    ...(notShown.length === 0
      ? []
      : ['', 'Not shown:', ...notShown.flatMap((part) => wrapped(`  ${part}`, columns, 2))]),
  ];
};
