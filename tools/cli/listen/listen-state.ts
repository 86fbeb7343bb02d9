import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { CliError, codeOf } from '../terminal/errors.ts';
import { replacePrivately } from '../terminal/private-files.ts';
import { secretPrefix } from './forward-event.ts';
import type { Progress } from './handle-stream.ts';

/** What a listener keeps between its runs. Only its owner can read the file. */
const schema = v.object({
  streamArn: v.string(),
  /** Signs the events. It stays the same, so that the handler's configuration does. */
  secret: v.pipe(v.string(), v.startsWith(secretPrefix)),
  progress: v.object({
    since: v.pipe(v.string(), v.isoTimestamp()),
    positions: v.record(v.string(), v.string()),
  }),
});
export type ListenState = Readonly<v.InferOutput<typeof schema>> & { readonly progress: Progress };

/** `$XDG_STATE_HOME/cosecha/listen-<stage>.json`: https://specifications.freedesktop.org/basedir/latest/ */
export const defaultStateFile = (stage: string, env: Readonly<Record<string, string | undefined>>): string =>
  join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'cosecha', `listen-${stage}.json`);

/** The content of the file, or undefined where there is none. Throws CliError for another content, as to start anew loses events. */
export const readListenState = async (file: string): Promise<ListenState | undefined> => {
  try {
    return v.parse(schema, JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    // Without a cause: JSON.parse quotes the text, which may have the secret.
    throw new CliError(
      `${file} is not the state of a listener. Delete it to start from now on, or name another with --state.`,
    );
  }
};

export const writeListenState = async (file: string, state: ListenState): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replacePrivately(file, JSON.stringify(state));
};
