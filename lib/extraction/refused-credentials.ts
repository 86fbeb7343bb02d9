import { createHmac } from 'node:crypto';
import { defined } from '../defined.ts';
import { userFields } from '../provider/assumptions.ts';
import { bareNationalId } from '../provider/national-id.ts';
import { type CredentialsExtraction, isTerminalStatus, type TerminalStatus } from './record.ts';
import type { SealedCredentialsData } from './sealed-request-data.ts';
import type { RefusalMark, RefusedCredentialsStore, Task, TaskLink, TaskStore } from './store.ts';

/** What start-task knows of credentials that it is about to send. */
export type KnownCredentials = Pick<TaskLink, 'credentialsMac' | 'isConfirmed'>;

type Fields = { readonly [field: string]: unknown };

/**
 * Who the user of raw credentials is, in one form: a national id counts the same with dots, hyphen, spaces, or a small `k`. Of
 * credentials that do not name their user by the documented fields, it is all but the password.
 */
export const userOf = ({ password: _password, ...others }: Fields): Fields => {
  const named = userFields.filter((field) => typeof others[field] === 'string');
  if (!named.includes('username')) return others;
  return Object.fromEntries(
    named.map((field) => {
      const text = (others[field] as string).normalize();
      return [field, bareNationalId(text) ?? text];
    }),
  );
};

/**
 * The MAC by which refused credentials are recognized, for the same caller and entity: of the user and the password. Without a
 * `password`, the secret has a name that nobody knows here, so all fields count.
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
  { refusals, now }: { readonly refusals: Pick<RefusedCredentialsStore, 'get'>; readonly now: () => Date },
): Promise<boolean> =>
  credentialsMac !== undefined &&
  isConfirmed !== true &&
  saysRefused(await refusals.get(credentialsMac), now());

/** Of credentials that were accepted. `FAILED` shows nothing about a password. */
const accepting: ReadonlySet<TerminalStatus> = new Set(['COMPLETED', 'PARTIAL']);

/**
 * What a final status shows about the credentials of its task, if that is to be marked. A locked account shows nothing, as its
 * password may be right. That credentials are right is marked only if the user confirmed them, as only then there may be a
 * refusal.
 */
const proofIn = (
  taskStatus: TerminalStatus,
  { isConfirmed }: Task,
): Pick<RefusalMark, 'isRefused'> | undefined => {
  if (taskStatus === 'CREDENTIALS_WRONG') return { isRefused: true };
  return isConfirmed === true && accepting.has(taskStatus) ? { isRefused: false } : undefined;
};

const daySeconds = 86_400;

export type MarkDeps = {
  readonly refusals: Pick<RefusedCredentialsStore, 'put'>;
  readonly tasks: Pick<TaskStore, 'notice'>;
  /** `refusedCredentialsDays`. 0 switches all of it off. */
  readonly keptDays: number;
  readonly now: () => Date;
};

/**
 * Marks what a final status shows about the credentials of its task. Called before the outcome is written: if the process ends in
 * between, the record is open, and the next process repeats this. A repetition uses the time of the first delivery, so it replaces
 * no later mark, and writes none that would have expired. Once a mark was written, the task says so, and no repetition writes it
 * again, even after an erasure. Throws what a store throws.
 */
export const markCredentials = async (
  task: Task,
  taskStatus: TerminalStatus,
  { refusals, tasks, keptDays, now }: MarkDeps,
): Promise<void> => {
  const { taskId, extractionId, credentialsMac, notifiedAt } = task;
  const shown = task.isMarked === true ? undefined : proofIn(taskStatus, task);
  if (shown === undefined || credentialsMac === undefined || extractionId === undefined) return;
  const noticedAt = task.noticedAt ?? (await tasks.notice(taskId, notifiedAt ?? now().toISOString()));
  // There is no item of the task any more: the extraction was erased meanwhile.
  if (noticedAt === undefined) return;
  const expiresAt = Math.floor(Date.parse(noticedAt) / 1000) + keptDays * daySeconds;
  if (now().getTime() >= expiresAt * 1000) return;
  await refusals.put({ credentialsMac, extractionId, noticedAt, expiresAt, ...shown });
  await tasks.notice(taskId, noticedAt, true);
};

/** The same of the status that a delivery has left in the item of the task, if it is final. */
export const markDelivered = async (task: Task, deps: MarkDeps): Promise<void> => {
  const { taskStatus } = task;
  if (taskStatus !== undefined && isTerminalStatus(taskStatus)) await markCredentials(task, taskStatus, deps);
};

/**
 * One text for each JSON value. The order of keys, the form of numbers and the normal form of Unicode do not matter, because a
 * person who types a password chooses none of them.
 */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(typeof value === 'string' ? value.normalize() : value);
  }
  const fields = Object.entries(value).map(
    ([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`,
  );
  return `{${fields.toSorted().join()}}`;
};

/** What a MAC under the fingerprint key is for. MACs of two purposes cannot be compared. */
type Purpose = 'request' | 'raw' | 'persisted' | 'password' | 'refusal';

/** The first `bits` of an HMAC-SHA256 over a JSON value, in hex. */
export const keyedMac = (key: string, purpose: Purpose, value: unknown, bits: number): string =>
  createHmac('sha256', key)
    .update(`${purpose}:${canonicalJson(value)}`)
    .digest('hex')
    .slice(0, bits / 4);
