import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** What is typed at a terminal until Ctrl-D, without echo, as it may be a password. Ctrl-C interrupts the process. */
export const readHidden = async (terminal: NodeJS.ReadableStream): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: terminal, output: nowhere, terminal: true, historySize: 0 });
  // The reader has put the terminal into raw mode, where Ctrl-C is a character and no signal.
  reader.on('SIGINT', () => {
    reader.close();
    process.kill(process.pid, 'SIGINT');
  });
  const lines: string[] = [];
  for await (const line of reader) lines.push(`${line}\n`);
  return lines.join('');
};
