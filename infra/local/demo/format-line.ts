import type { styleText } from 'node:util';

/** What kind of line: a step is done; something happened; something is waited for; it went wrong. */
export type Mark = 'done' | 'note' | 'wait' | 'failed';

export type Line = { elapsedMs: number; mark: Mark; subject: string; text: string };

/** Colours a piece of text, or leaves it as it is where there is no terminal. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

const signs = { done: '✔', note: '·', wait: '…', failed: '✖' } as const;
const colours = { done: 'green', note: 'gray', wait: 'cyan', failed: 'red' } as const;

/** The widest subject, "extraction"; one line's text starts under the other's. */
const subjectWidth = 10;

/** `  6.1 s  ✔ deploy      Cosecha-local`: elapsed time, sign, subject, text. */
export const formatLine = ({ elapsedMs, mark, subject, text }: Line, paint: Paint): string => {
  const elapsed = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(8);
  const sign = paint(colours[mark], signs[mark]);
  return `${paint('gray', elapsed)}  ${sign} ${paint('bold', subject.padEnd(subjectWidth))}  ${text}`;
};

/** Text that belongs to the line above it, under the line's own text. */
export const formatBlock = (text: string, paint: Paint): string => {
  const indent = ' '.repeat('  99.9 s  ✔ '.length + subjectWidth + 2);
  return text
    .split('\n')
    .map((line) => paint('gray', `${indent}${line}`))
    .join('\n');
};
