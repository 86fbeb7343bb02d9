import type { Extraction } from '../../../lib/extraction/record.ts';
import { CliError } from '../../cli/terminal/errors.ts';

type Ended = Pick<Extraction, 'status' | 'settledBy' | 'collectedAt'>;

const completed = ({ status, collectedAt }: Ended) => status === 'COMPLETED' && collectedAt !== undefined;
const completedBy = (by: string) => (one: Ended) => completed(one) && one.settledBy === by;

/**
 * Lambda ends an invocation that is under way with the old code. MiniStack kills it, and the machine does not learn that. So a start
 * that it interrupts ends without a task, or as one that nobody knows.
 */
const started = (one: Ended, killsInvocations: boolean) =>
  completed(one) || (killsInvocations && ['UNCONFIRMED', 'NOT_STARTED'].includes(one.status));

/** The states in which an update finds extractions, and whether they end as they must. */
const endings = {
  'waiting for the webhook': completedBy('webhook'),
  'polled by the machine': completedBy('reconcile'),
  'polled by the queue, by consent': completed,
  'with a message that is delayed until after the update': completedBy('reconcile'),
  'requested and held, as the provider is busy': started,
  'in line, as starts are paused': completed,
  'starting, with a slow call': started,
  'TIMED_OUT, in grace': completed,
  'settled, and not collected': completedBy('webhook'),
  'requested meanwhile': started,
};

type State = keyof typeof endings;

type One = {
  readonly extractionId: string;
  /** After the update. */
  readonly goOn?: () => Promise<unknown>;
};

export type Cases<Brought> = Readonly<Partial<Record<State, () => Promise<Brought>>>>;

type Update<Brought> = {
  readonly cases: Cases<Brought>;
  /** They last for seconds only, so they are brought just before the update. */
  readonly briefCases?: Cases<Brought>;
  /** Requests an extraction that ends by itself. It is repeated for as long as the update lasts. */
  readonly request: () => Promise<Brought>;
  /** Updates the stack. It calls `beforeUpdate` once everything is prepared. */
  readonly update: (beforeUpdate: () => Promise<void>) => Promise<unknown>;
  readonly closed: (one: Brought, state: string) => Promise<Ended>;
  /** As MiniStack does where it updates a function. */
  readonly killsInvocations: boolean;
  readonly waitFor: (what: string) => void;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Updates a stack while extractions are in these states and others are requested. Throws CliError unless each ends as it must. */
export const updateInPlace = async <Brought extends One>(options: Update<Brought>) => {
  const { request, closed, killsInvocations, waitFor, sleep } = options;
  const all: (Brought & { readonly state: State })[] = [];
  const bring = async (cases: Cases<Brought>): Promise<void> => {
    const bringing = Object.entries(cases).map(async ([state, one]) => ({
      ...(await one()),
      state: state as State,
    }));
    all.push(...(await Promise.all(bringing)));
  };
  waitFor('extractions to be in their states');
  await bring(options.cases);
  waitFor('the update, under requests');
  let isOver = false;
  const updating = options
    .update(() => bring(options.briefCases ?? {}))
    .finally(() => {
      isOver = true;
    });
  const requesting = async (): Promise<void> => {
    // Some are requests of the new code alone.
    for (let after = 0; after < 6; after += Number(isOver)) {
      all.push({ ...(await request()), state: 'requested meanwhile' });
      await sleep(500);
    }
  };
  await Promise.all([updating, requesting()]);
  waitFor('all extractions to end');
  await Promise.all(all.map(({ goOn }) => goOn?.()));
  const wrong: string[] = [];
  for (const one of all) {
    const record = await closed(one, one.state);
    if (endings[one.state](record, killsInvocations)) continue;
    wrong.push(`${one.extractionId} (${one.state}) ended as ${record.status}, by ${record.settledBy}.`);
  }
  if (wrong.length > 0) throw new CliError(wrong);
  return all;
};
