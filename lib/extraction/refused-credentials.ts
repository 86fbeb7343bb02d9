import { defined } from '../defined.ts';
import { type Fields, keyedMac, userOf } from './keyed-mac.ts';
import { type CredentialsExtraction, finalStatusIn, type TerminalStatus } from './record.ts';
import type { SealedCredentialsData } from './sealed-request-data.ts';
import type { RefusalMark, RefusedCredentialsStore, Task, TaskLink, TaskStore } from './store.ts';

export type KnownCredentials = Pick<TaskLink, 'credentialsMac' | 'isConfirmed' | 'afterMark'>;

/**
 * The MAC that recognizes refused credentials of the same caller and entity. It covers the user and the password. Without a `password`, the
 * name of the secret field is unknown here, so all fields count.
 */
export const credentialsMac = (
  key: string,
  { requestedBy, entity }: CredentialsExtraction,
  value: Fields,
): string => {
  const login = value.password === undefined ? value : [userOf(value), value.password];
  return keyedMac(key, 'refusal', [requestedBy, entity, login], 128);
};

/**
 * What is known about unsealed credentials. Nothing is known about ciphertext: encrypted credentials differ each time, and the user can
 * change what persisted ones stand for. Throws what `key` throws.
 */
export const knownCredentials = async (
  record: CredentialsExtraction,
  { credentials, confirmed }: SealedCredentialsData,
  { key, keptDays }: { readonly key: () => Promise<string> } & Pick<MarkDeps, 'keptDays'>,
): Promise<KnownCredentials> =>
  credentials.mode !== 'raw' || keptDays === 0
    ? {}
    : {
        credentialsMac: credentialsMac(await key(), record, credentials.value),
        ...defined({ isConfirmed: confirmed }),
      };

/** Whether a mark shows that the bank has refused the credentials. The end of the mark is compared here, because TTL is days late. */
export const saysRefused = (mark: RefusalMark | undefined, now: Date): boolean =>
  mark?.isRefused === true && now.getTime() < mark.expiresAt * 1000;

/**
 * Reads the mark of credentials before they are sent. If `isRefused`, they must not be sent: the bank refused them, and the user has not
 * confirmed them since. Confirmed credentials are sent, and what their task shows counts as later than this mark, even if the clock that
 * wrote the mark was ahead. Throws what the store throws. Without an answer, nothing may be sent.
 */
export const checkRefusalMark = async (
  { credentialsMac, isConfirmed }: KnownCredentials,
  { refusals, now }: { readonly refusals: Pick<RefusedCredentialsStore, 'get'>; readonly now: () => Date },
): Promise<{ readonly isRefused: boolean; readonly known: KnownCredentials }> => {
  const mark = credentialsMac === undefined ? undefined : await refusals.get(credentialsMac);
  return {
    isRefused: isConfirmed !== true && saysRefused(mark, now()),
    known: defined({ credentialsMac, isConfirmed, afterMark: mark?.noticedAt }),
  };
};

/** The final statuses of accepted credentials. `FAILED` shows nothing about a password. */
const accepting: ReadonlySet<string> = new Set(['COMPLETED', 'PARTIAL']);

/**
 * What the first final status of a task shows about its credentials, if it has to be marked. A locked account shows nothing, because its
 * password may be right. Accepted credentials are marked only if the user confirmed them, because only then there may be a refusal.
 */
const proofIn = (firstStatus: string, { isConfirmed }: Task): Pick<RefusalMark, 'isRefused'> | undefined => {
  if (firstStatus === 'CREDENTIALS_WRONG') return { isRefused: true };
  return isConfirmed === true && accepting.has(firstStatus) ? { isRefused: false } : undefined;
};

/** More than the extractions that send one refused password while its mark is kept. The limit keeps an item far below DynamoDB's 400 KB. */
const maxExtractions = 50;

/**
 * The mark after one more extraction has shown something. Undefined if nothing changes. If the two disagree, the later one counts. If they
 * agree, both extractions are kept, so that after the erasure of one the mark stays for the other.
 */
export const mergeMarks = (found: RefusalMark | undefined, shown: RefusalMark): RefusalMark | undefined => {
  if (found === undefined) return shown;
  const known = new Set(found.extractionIds);
  if (shown.extractionIds.every((id) => known.has(id))) return undefined;
  const isLater = found.noticedAt < shown.noticedAt;
  if (found.isRefused !== shown.isRefused) return isLater ? shown : undefined;
  const extractionIds = [...found.extractionIds, ...shown.extractionIds].slice(-maxExtractions);
  return { ...(isLater ? shown : found), extractionIds };
};

/**
 * The mark after an erasure, or undefined if no other extraction has shown the same. Its end stays, because the times of the other
 * extractions are not stored.
 */
export const withoutExtraction = (mark: RefusalMark, extractionId: string): RefusalMark | undefined => {
  const extractionIds = mark.extractionIds.filter((id) => id !== extractionId);
  return extractionIds.length === 0 ? undefined : { ...mark, extractionIds };
};

const daySeconds = 86_400;

/** When a task showed something. If a mark is known to be earlier, this time is later than that mark, even if clocks differ. */
const shownAt = (noticedAt: string, afterMark: string | undefined): string =>
  afterMark === undefined || afterMark < noticedAt
    ? noticedAt
    : new Date(Date.parse(afterMark) + 1).toISOString();

export type MarkDeps = {
  readonly refusals: Pick<RefusedCredentialsStore, 'put'>;
  readonly tasks: Pick<TaskStore, 'notice' | 'setMarked'>;
  /** The setting `refusedCredentialsDays`. 0 disables the marks. */
  readonly keptDays: number;
  readonly now: () => Date;
};

/**
 * Marks what the first final status of a task shows about its credentials. `taskStatus` was just learned, and counts if no status was
 * known. It is called before the outcome is written. So if the process ends in between, the record is open, and the next process repeats
 * it. A repetition uses the time of the first notice, so it replaces no later mark and writes no expired one. Once a mark was written, the
 * task has `isMarked`, and no repetition writes it again, even after an erasure. Throws what a store throws.
 */
export const markCredentials = async (
  task: Task,
  taskStatus: TerminalStatus,
  { refusals, tasks, keptDays, now }: MarkDeps,
): Promise<void> => {
  const { taskId, callbackToken, notifiedAt } = task;
  const proofOf = (one: Task) => proofIn(one.firstStatus ?? taskStatus, one);
  // A task without a token was adopted. start-task may link it at this moment, with the MAC, so its status is stored below.
  const isLinkedWithoutMac = task.credentialsMac === undefined && callbackToken !== undefined;
  if (isLinkedWithoutMac || task.isMarked === true) return;
  if (task.firstStatus !== undefined && proofOf(task) === undefined) return;
  // Stores the status of a read. The status of a delivery is stored already, so then this only shows whether the task was erased meanwhile.
  const known = await tasks.notice(taskId, taskStatus, notifiedAt ?? now().toISOString());
  const { credentialsMac, extractionId } = known ?? {};
  if (known?.noticedAt === undefined || credentialsMac === undefined || extractionId === undefined) return;
  if (known.isMarked === true) return;
  const shown = proofOf(known);
  if (shown === undefined) return;
  const noticedAt = shownAt(known.noticedAt, known.afterMark);
  const expiresAt = Math.floor(Date.parse(noticedAt) / 1000) + keptDays * daySeconds;
  if (now().getTime() >= expiresAt * 1000) return;
  await refusals.put({ credentialsMac, extractionIds: [extractionId], noticedAt, expiresAt, ...shown });
  await tasks.setMarked(taskId);
};

/** The same for the final status that a delivery or a read stored in the item of the task, if any. Throws what a store throws. */
export const markCredentialsIfKnown = async (task: Task, deps: MarkDeps): Promise<void> => {
  const taskStatus = finalStatusIn({ taskStatus: task.firstStatus ?? task.taskStatus });
  if (taskStatus !== undefined) await markCredentials(task, taskStatus, deps);
};
