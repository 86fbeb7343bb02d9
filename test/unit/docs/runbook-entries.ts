import { read } from './metric-names.ts';

/** An entry of docs/operations.md: the text under a heading of the third level. */
export type RunbookEntry = {
  /** The heading, which is also its anchor. */
  readonly id: string;
  readonly text: string;
};

/** The text under a heading of the second level. */
const chapter = (title: string): string => {
  const page = read('docs/operations.md');
  const start = page.indexOf(`\n## ${title}\n`);
  if (start === -1) throw new Error(`docs/operations.md has no chapter "${title}"`);
  const end = page.indexOf('\n## ', start + 1);
  return page.slice(start, end === -1 ? undefined : end);
};

/** The entries that alarms link to. */
export const runbookEntries: readonly RunbookEntry[] = chapter('Alarms')
  .split('\n### ')
  .slice(1)
  .map((entry) => {
    const [id = '', ...lines] = entry.split('\n');
    return { id, text: lines.join('\n') };
  });
