import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import yoctoSpinner from 'yocto-spinner';

const signs = { done: ['green', '✔'], note: ['gray', '·'], wait: ['cyan', '…'] } as const;

/** The width of the longest subject, "extraction". All texts start in the same column. */
const subjectWidth = 10;

/**
 * Prints a run to the terminal, in the order of events, such as `  6.1 s  ✔ deploy      Cosecha-local`.
 *
 * @param out coloured by `styleText` if it is a terminal and NO_COLOR is not set
 * @param now the clock, in milliseconds; elapsed times count from this call
 */
export const createRunOutput = (out: Pick<WriteStream, 'write'> & { isTTY?: boolean }, now: () => number) => {
  const startedAt = now();
  const stream = out as WriteStream;
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream });
  const plain = (text: string) => void out.write(`${text}\n`);
  const line = (kind: keyof typeof signs) => (subject: string, text: string) => {
    const elapsed = `${((now() - startedAt) / 1000).toFixed(1)} s`.padStart(8);
    const [colour, sign] = signs[kind];
    const start = `${paint('gray', elapsed)}  ${paint(colour, sign)}`;
    plain(`${start} ${paint('bold', subject.padEnd(subjectWidth))}  ${text}`);
  };
  // The spinner gives way to other text on the stream. start.ts handles Ctrl-C.
  const spinner = out.isTTY ? yoctoSpinner({ stream, handleSignals: false }) : undefined;
  const spin = (subject: string, text: string) => {
    if (spinner) spinner.start().text = `${subject}: ${text}`;
  };
  return {
    done: line('done'),
    note: line('note'),
    /** Text without time and sign. */
    plain,
    /** The run now waits for this. It is the text of the spinner, or a line without a terminal. */
    wait: spinner ? spin : line('wait'),
    rest: () => void spinner?.stop(),
  };
};

export type RunOutput = Readonly<ReturnType<typeof createRunOutput>>;
