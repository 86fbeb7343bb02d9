import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { CliError, codeOf } from './errors.ts';

/**
 * Creates a file that only its owner can read. One that exists, or a link, may be somebody else's: `wx` fails there, and follows no link.
 *
 * @throws {CliError} if it exists, or cannot be created
 */
const createPrivately = (path: string): Promise<FileHandle> =>
  open(path, 'wx', 0o600).catch((cause: unknown) => {
    throw new CliError(
      codeOf(cause) === 'EEXIST'
        ? `${path} exists, and is not overwritten. Name another file, or remove this one.`
        : `${path} could not be written: ${String(codeOf(cause))}.`,
      { cause },
    );
  });

/** Writes a new file. Throws CliError as `createPrivately`. */
export const writePrivately = async (path: string, content: string | Uint8Array): Promise<void> => {
  const file = await createPrivately(path);
  await file.writeFile(content).finally(() => file.close());
};

/**
 * Replaces the file, or a link in its place, in one step. A process that is killed leaves either the old content or the new one.
 *
 * @throws {CliError} as `createPrivately`
 */
export const replacePrivately = async (path: string, content: string): Promise<void> => {
  // Nobody can have a file or a link where this will be.
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writePrivately(temporary, content);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
};

/**
 * Opens a file that `writePrivately` has written, to write more.
 *
 * @throws {CliError} if it is a link, or another user owns it or can open it
 */
export const openOwn = async (path: string): Promise<FileHandle> => {
  const foreign = `${path} is not only yours, and is not written to. Name another file, or remove this one.`;
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW).catch((cause: unknown) => {
    throw new CliError(foreign, { cause });
  });
  const { uid, mode } = await file.stat();
  if (uid === process.getuid?.() && (mode & 0o077) === 0) return file;
  await file.close();
  throw new CliError(foreign);
};

/** Creates a directory that only its owner can enter, or makes it one. */
export const makePrivateDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700);
};
