import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import yoctoSpinner from 'yocto-spinner';

/** A step is done, an event happened, or the run waits. */
type LineKind = 'done' | 'note' | 'wait';

type Line = { elapsedMs: number; kind: LineKind; subject: string; text: string };

/** Colours a text, or returns it unchanged without a terminal. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

const signs = { done: '✔', note: '·', wait: '…' } as const;
const colours = { done: 'green', note: 'gray', wait: 'cyan' } as const;

/** The width of the longest subject, "extraction". All texts start in the same column. */
const subjectWidth = 10;

/** `  6.1 s  ✔ deploy      Cosecha-local`: elapsed time, sign, subject, text. */
export const formatLine = ({ elapsedMs, kind, subject, text }: Line, paint: Paint): string => {
  const elapsed = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(8);
  const sign = paint(colours[kind], signs[kind]);
  return `${paint('gray', elapsed)}  ${sign} ${paint('bold', subject.padEnd(subjectWidth))}  ${text}`;
};

/** Prints a run to the terminal, in the order of events. */
export type RunOutput = {
  /** A step is done. */
  done(subject: string, text: string): void;
  /** An event happened. */
  note(subject: string, text: string): void;
  /** Text without time and sign. */
  plain(text: string): void;
  /** The run now waits for this. It is the text of the spinner, or a line without a terminal. */
  wait(subject: string, text: string): void;
  /** The run no longer waits. */
  rest(): void;
};

type Output = Pick<WriteStream, 'write'> & { isTTY?: boolean };

/**
 * @param out coloured by `styleText` if it is a terminal and NO_COLOR is not set
 * @param now the clock, in milliseconds; elapsed times count from this call
 */
export const createRunOutput = (out: Output, now: () => number): RunOutput => {
  const startedAt = now();
  const paint: Paint = (format, text) => styleText(format, text, { stream: out as WriteStream });
  const write = (text: string) => void out.write(`${text}\n`);
  const line = (kind: LineKind, subject: string, text: string) =>
    write(formatLine({ elapsedMs: now() - startedAt, kind, subject, text }, paint));
  // The spinner gives way to other text on the stream. start.ts handles Ctrl-C.
  const spinner = out.isTTY ? yoctoSpinner({ stream: out as WriteStream, handleSignals: false }) : undefined;
  return {
    done: (subject, text) => line('done', subject, text),
    note: (subject, text) => line('note', subject, text),
    plain: write,
    wait(subject, text) {
      if (spinner) spinner.start().text = `${subject}: ${text}`;
      else line('wait', subject, text);
    },
    rest: () => void spinner?.stop(),
  };
};
