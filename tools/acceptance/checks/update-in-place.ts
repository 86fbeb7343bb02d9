import type { Extraction } from '../../../lib/extraction/record.ts';
import { CliError } from '../../cli/terminal/errors.ts';

type Ended = Pick<Extraction, 'status' | 'settledBy' | 'collectedAt'>;

/** The states in which an update finds extractions, and what has to settle each. Lambda lets an invocation finish with the old code. */
const settlers = {
  'waiting for the webhook': 'webhook',
  'polled by the machine': 'reconcile',
  'polled by the queue, by consent': undefined,
  'with a message that is delayed until after the update': 'reconcile',
  'requested and held, as the provider is busy': undefined,
  'in line, as starts are paused': undefined,
  'starting, with a slow call': undefined,
  'TIMED_OUT, in grace': undefined,
  'settled, and not collected': 'webhook',
  'requested meanwhile': undefined,
};

type State = keyof typeof settlers;

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
  readonly waitFor: (what: string) => void;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Updates a stack while extractions are in these states and others are requested. Throws CliError unless each ends as it must. */
export const updateInPlace = async <Brought extends One>(options: Update<Brought>) => {
  const { request, closed, waitFor, sleep } = options;
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
    const { status, collectedAt, settledBy } = await closed(one, one.state);
    const isRight = settledBy === (settlers[one.state] ?? settledBy);
    if (status === 'COMPLETED' && collectedAt !== undefined && isRight) continue;
    wrong.push(`${one.extractionId} (${one.state}) ended as ${status}, by ${settledBy}.`);
  }
  if (wrong.length > 0) throw new CliError(wrong);
  return all;
};
