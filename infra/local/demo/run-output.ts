import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import yoctoSpinner from 'yocto-spinner';
import { formatBlock, formatLine, type Paint } from './format-line.ts';

/** What the person at the terminal sees of a run, in the order it happens. */
export type RunOutput = {
  /** A step is done. */
  done(subject: string, text: string): void;
  /** Something happened. */
  note(subject: string, text: string): void;
  /** Detail of the line before it. */
  block(text: string): void;
  /** Text outside the run: no time, no sign. */
  plain(text: string): void;
  /** What is waited for from now on: the spinner's text, a line where there is no terminal. */
  wait(subject: string, text: string): void;
  failed(subject: string, text: string): void;
  /** Nothing is waited for any more. */
  rest(): void;
};

type Output = Pick<WriteStream, 'write'> & { isTTY?: boolean };

/**
 * @param out coloured where it is a terminal and NO_COLOR is not set (as `styleText` finds out itself)
 * @param now milliseconds; elapsed times count from this call
 */
export const createRunOutput = (out: Output, now: () => number): RunOutput => {
  const begun = now();
  const paint: Paint = (format, text) => styleText(format, text, { stream: out as WriteStream });
  const write = (text: string) => void out.write(`${text}\n`);
  const line = (mark: 'done' | 'note' | 'wait' | 'failed', subject: string, text: string) =>
    write(formatLine({ elapsedMs: now() - begun, mark, subject, text }, paint));
  // It moves out of the way of whatever else is written to the stream. Ctrl-C is start.ts's own business.
  const spinner = out.isTTY ? yoctoSpinner({ stream: out as WriteStream, handleSignals: false }) : undefined;
  return {
    done: (subject, text) => line('done', subject, text),
    note: (subject, text) => line('note', subject, text),
    failed: (subject, text) => line('failed', subject, text),
    block: (text) => write(formatBlock(text, paint)),
    plain: write,
    wait(subject, text) {
      if (spinner) spinner.start().text = `${subject}: ${text}`;
      else line('wait', subject, text);
    },
    rest: () => void spinner?.stop(),
  };
};
