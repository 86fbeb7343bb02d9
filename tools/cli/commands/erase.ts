import { defined } from '../../../lib/defined.ts';
import type { Erasure, Tombstone } from '../../../lib/extraction/erase/erasure.ts';
import type { Deployment } from '../aws/deployment.ts';
import { requireRecord } from '../aws/stores.ts';
import { erasuresOf } from '../operate/begin-erasure.ts';
import type { Shell } from '../terminal/command-environment.ts';
import type { CommandText } from '../terminal/command-text.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import { plural } from '../terminal/plural.ts';
import type { CommandContext } from './command-context.ts';

type EraseOptions = {
  readonly reference?: string;
  readonly caller?: string;
  readonly erasure?: string;
  readonly wait: boolean;
  readonly yes?: true;
};

type Erasures = ReturnType<typeof erasuresOf>;
type Scope = Pick<Erasure, 'extractionId' | 'reference' | 'requestedBy'>;

/** What is asked, as a question, and the words that confirm it. */
type Question = { readonly scope: Scope; readonly what: string; readonly words: string };

export const questionOf = async (
  id: string | undefined,
  { reference, caller }: EraseOptions,
  deployment: Deployment,
  erasures: Erasures,
): Promise<Question> => {
  if (reference === undefined) {
    const { extractionId } = await requireRecord(deployment, id ?? '');
    return { scope: { extractionId }, what: `${extractionId} and its results`, words: extractionId };
  }
  const found = await erasures.find(reference, caller);
  if (found.length === 0) throw new CliError('No extraction has this reference. Nothing was erased.');
  const callers = new Set(found.map(({ requestedBy }) => requestedBy)).size;
  const of = caller === undefined && callers > 1 ? ` of ${callers} callers` : '';
  const count = `${plural(found.length, 'extraction')}${of}`;
  const scope = defined({ reference, requestedBy: caller });
  return { scope, what: `${count} with this reference, and their results,`, words: reference };
};

const pollMs = 2_000;

type Progress = { readonly erasure: Erasure; readonly tombstones: readonly Tombstone[] };

const isDone = ({ erasure, tombstones }: Progress): boolean =>
  erasure.searchedAt !== undefined && tombstones.every(({ erasedAt }) => erasedAt !== undefined);

const countsOf = ({ erasure, tombstones }: Progress) => ({
  found: tombstones.length,
  erased: tombstones.filter(({ erasedAt }) => erasedAt !== undefined).length,
  isSearched: erasure.searchedAt !== undefined,
});

const describeWait = (progress: Progress): string => {
  const { found, erased, isSearched } = countsOf(progress);
  if (found === 0 && !isSearched) return 'The erasure has begun, and has found nothing yet';
  return `${erased} of ${found} erased${isSearched ? '' : ', and the index is read again two minutes after the first time'}`;
};

const read = async (erasureId: string, erasures: Erasures): Promise<Progress> => {
  const erasure = await erasures.get(erasureId);
  if (erasure === undefined)
    throw new CliError(`There is no erasure ${erasureId}, or it is of more than 42 days ago.`);
  return { erasure, tombstones: await erasures.tombstones(erasureId) };
};

/** Reads until all is erased, or the operator interrupts. */
const follow = async (erasureId: string, erasures: Erasures, shell: Shell): Promise<Progress> => {
  const interrupted = shell.interrupted();
  for (;;) {
    const progress = await read(erasureId, erasures);
    if (isDone(progress) || interrupted.aborted) return progress;
    shell.wait(describeWait(progress));
    await shell.sleep(pollMs, interrupted);
  }
};

export const report = (progress: Progress, shell: Pick<Shell, 'print'>, command: CommandText): number => {
  const { erasure, tombstones } = progress;
  const { erasureId, askedBy, askedAt, searchedAt } = erasure;
  const { found, erased } = countsOf(progress);
  const isComplete = isDone(progress);
  const lines = isComplete
    ? [
        `Erased: ${plural(erased, 'extraction')}, with results, task, request and record. Erasure ${erasureId}.`,
        'docs/erasure.md lists what stays elsewhere, and for how long. Tell the services that have copies.',
      ]
    : [
        `${describeWait(progress)}. The rest follows by itself: what runs is erased once its outcome is out.`,
        `See it with \`${command('erase', '--erasure', erasureId)}\`.`,
      ];
  const records = tombstones.map(({ extractionId, requestId, removingAt, erasedAt }) =>
    defined({ extractionId, requestId, removingAt, erasedAt }),
  );
  const asked = defined({ askedBy, askedAt, searchedAt });
  shell.print(lines, { erasureId, ...asked, found, erased, isComplete, extractions: records });
  return 0;
};

const requireOne = (id: string | undefined, { reference, caller, erasure }: EraseOptions): void => {
  const given = [id, reference, erasure].filter((one) => one !== undefined);
  if (given.length !== 1) throw new UsageError('Name one extraction, or --reference, or --erasure.');
  if (caller !== undefined && reference === undefined) throw new UsageError('--caller needs --reference.');
};

export const erase = async (
  id: string | undefined,
  options: EraseOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  requireOne(id, options);
  const deployment = await connect();
  const erasures = erasuresOf(deployment);
  const begin = async (): Promise<string> => {
    const { scope, what, words } = await questionOf(id, options, deployment, erasures);
    const which = 'extractionId' in scope ? 'its id' : 'the reference';
    const question = `This erases ${what} from ${deployment.stackName} for good. Type ${which} to continue:`;
    if (options.yes !== true && !(await shell.confirm(question, words))) {
      throw new CliError(`Nothing was erased: type ${which} at the prompt, or use --yes.`);
    }
    const erasureId = shell.randomId();
    await erasures.begin({ erasureId, ...scope });
    return erasureId;
  };
  const erasureId = options.erasure ?? (await begin());
  const progress = options.wait ? await follow(erasureId, erasures, shell) : await read(erasureId, erasures);
  shell.wait(undefined);
  return report(progress, shell, deployment.command);
};
