import type { Story, StoryLine } from './story.ts';

/** This many equal lines in a row are printed. Of more, the first and the last are, with the number between them. */
const mostAlike = 3;

const isAlike = (one: StoryLine, other: StoryLine): boolean =>
  one.who === other.who && one.what === other.what;

/** Runs of equal lines, such as polls. */
const runsOf = (lines: readonly StoryLine[]): readonly (readonly StoryLine[])[] => {
  const runs: StoryLine[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (run?.[0] !== undefined && isAlike(run[0], line)) run.push(line);
    else runs.push([line]);
  }
  return runs;
};

const clock = (time: string): string => time.slice(11);

const details = ({ at, until, attempt, nextAt }: StoryLine): string => {
  const parts = [
    ...(until === undefined
      ? []
      : [`until ${until.slice(0, 10) === at.slice(0, 10) ? clock(until) : until}`]),
    ...(attempt === undefined ? [] : [`try ${attempt}`]),
    ...(nextAt === undefined
      ? []
      : [`next ${nextAt.slice(0, 10) === at.slice(0, 10) ? clock(nextAt) : nextAt}`]),
  ];
  return parts.length === 0 ? '' : `  [${parts.join(', ')}]`;
};

const sign = ({ verdict }: StoryLine): string => {
  if (verdict === undefined) return ' ';
  return verdict === 'ok' ? '✓' : '✗';
};

/** The story as text: the headline, a line for each thing that happened under its day, and what is missing. */
export const describeStory = ({
  status,
  extractionId,
  headline,
  lines,
  notShown,
}: Story): readonly string[] => {
  const width = Math.max(0, ...lines.map(({ who }) => who.length));
  const text = (line: StoryLine): string =>
    `${clock(line.at)}  ${sign(line)} ${line.who.padEnd(width)}  ${line.what}${details(line)}`;
  const printed: string[] = [];
  let day = '';
  for (const run of runsOf(lines)) {
    const [first, ...rest] = run;
    const last = rest.at(-1);
    const middle = ' '.repeat(13);
    const shown =
      run.length <= mostAlike || last === undefined
        ? run.map(text)
        : [text(run[0] as StoryLine), `${middle}    ${run.length - 2} more of these`, text(last)];
    const today = (first?.at ?? '').slice(0, 10);
    if (today !== day) printed.push(today);
    day = today;
    printed.push(...shown);
  }
  return [
    `${extractionId}  ${status}`,
    headline,
    ...(printed.length === 0 ? [] : ['', ...printed]),
    ...(notShown.length === 0 ? [] : ['', 'Not shown:', ...notShown.map((part) => `  ${part}`)]),
  ];
};
