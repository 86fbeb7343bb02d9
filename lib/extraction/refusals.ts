import { defined } from '../defined.ts';
import { keyedMac } from './keyed-mac.ts';
import type { CredentialsExtraction, TerminalStatus } from './record.ts';
import type { SealedCredentialsData } from './sealed-request-data.ts';
import type { RefusalMark, RefusalStore, Task, TaskLink, TaskStore } from './store.ts';

/** What start-task knows of credentials that it is about to send. */
export type KnownCredentials = Pick<TaskLink, 'credentialsMac' | 'isConfirmed'>;

/** The MAC by which refused credentials are recognized, for the same caller and entity. */
export const credentialsMac = (
  key: string,
  { requestedBy, entity }: CredentialsExtraction,
  value: { readonly [field: string]: unknown },
): string => keyedMac(key, 'refusal', [requestedBy, entity, value], 128);

/**
 * What is known of unsealed credentials. Nothing of ciphertext: that of encrypted ones differs each time, and the user can change
 * what persisted ones stand for. Throws what `key` throws.
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

/** Whether a mark says that the bank has refused the credentials. It compares the end itself, as TTL lags by days. */
export const saysRefused = (mark: RefusalMark | undefined, now: Date): boolean =>
  mark?.isRefused === true && now.getTime() < mark.expiresAt * 1000;

/**
 * Whether these credentials must not be sent: the bank refused them, and the user has not confirmed them since. Throws what the
 * store throws; without an answer nothing may be sent.
 */
export const refusedBefore = async (
  { credentialsMac, isConfirmed }: KnownCredentials,
  { refusals, now }: { readonly refusals: Pick<RefusalStore, 'get'>; readonly now: () => Date },
): Promise<boolean> =>
  credentialsMac !== undefined &&
  isConfirmed !== true &&
  saysRefused(await refusals.get(credentialsMac), now());

const accepting: ReadonlySet<TerminalStatus> = new Set(['COMPLETED', 'PARTIAL']);
const daySeconds = 86_400;

/**
 * The mark that a final status of a task calls for, or undefined. A locked account shows nothing about the password, and neither
 * does `FAILED`. That credentials are right is written only where the user confirmed them, as only then there may be a mark.
 */
export const markFor = (
  task: Task,
  taskStatus: TerminalStatus,
  { now, keptDays }: { readonly now: Date; readonly keptDays: number },
): RefusalMark | undefined => {
  const { extractionId, credentialsMac: mac, isConfirmed, refusedAt, notifiedAt } = task;
  const isRefused = taskStatus === 'CREDENTIALS_WRONG';
  if (mac === undefined || extractionId === undefined || refusedAt !== undefined) return undefined;
  if (!isRefused && !(isConfirmed === true && accepting.has(taskStatus))) return undefined;
  const noticedAt = notifiedAt ?? now.toISOString();
  const expiresAt = Math.floor(Date.parse(noticedAt) / 1000) + keptDays * daySeconds;
  // So a delivery that is replayed later writes nothing, and 0 days switch all of it off.
  if (expiresAt * 1000 <= now.getTime()) return undefined;
  return { credentialsMac: mac, extractionId, noticedAt, isRefused, expiresAt };
};

export type MarkDeps = {
  readonly refusals: Pick<RefusalStore, 'put'>;
  readonly tasks: Pick<TaskStore, 'showRefused'>;
  /** `refusedCredentialsDays`. */
  readonly keptDays: number;
  readonly now: () => Date;
};

/**
 * Writes the mark that a final status calls for. Called before the outcome is written, so that a process that ends in between
 * leaves an open record, and the next one repeats this. Throws what a store throws.
 */
export const markCredentials = async (
  task: Task,
  taskStatus: TerminalStatus,
  { refusals, tasks, keptDays, now }: MarkDeps,
): Promise<void> => {
  const mark = markFor(task, taskStatus, { now: now(), keptDays });
  if (mark === undefined) return;
  await refusals.put(mark);
  if (mark.isRefused) await tasks.showRefused(task.taskId, mark.noticedAt);
};
