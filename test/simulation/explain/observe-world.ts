import { defined } from '#lib/defined.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { StoredEntry } from '#lib/rate-limit/start-line.ts';
import { isKnown } from '../../../tools/cli/explain/explain-extraction.ts';
import { gather } from '../../../tools/cli/explain/gather.ts';
import { headlineFacts } from '../../../tools/cli/explain/headline.ts';
import type { Execution, PlaceFacts, StorySources } from '../../../tools/cli/explain/sources.ts';
import type { StoryFact } from '../../../tools/cli/explain/story-facts.ts';
import { commandTextOf } from '../../../tools/cli/terminal/command-text.ts';
import { holdsIn } from '../../../tools/cli/terminal/describe-hold.ts';
import { randomOf } from '../../support/data/random.ts';
import { runSeed } from '../campaign/search-random.ts';
import { type Listener, runWorld } from '../run-world.ts';
import type { FactKind, Facts } from '../world/facts.ts';
import type { Scenario } from '../world/scenario.ts';
import { settings, timings } from '../world/settings.ts';
import { theExtraction } from '../world/the-extraction.ts';
import type { World } from '../world/world.ts';

/** What happened, in order, as the simulation saw it. Oracles read this and nothing that `explain` reads. */
type TraceEvent = {
  readonly [Kind in FactKind]: { readonly kind: Kind; readonly at: number; readonly content: Facts[Kind] };
}[FactKind];

/** The whole life of a world. */
export type Trace = {
  readonly events: readonly TraceEvent[];
  readonly world: World;
};

/** A moment at which somebody asks, and what could not be read then. */
export type Moment = {
  readonly now: number;
  /** How many events had happened. */
  readonly position: number;
  readonly record: Extraction | undefined;
  readonly denied: ReadonlySet<keyof StorySources>;
  readonly isSweepOn: boolean;
  /** Deliveries with a forged signature, which anybody may send. */
  readonly forged: number;
};

export type Stated = { readonly moment: Moment; readonly fact: StoryFact };

type Asked = Moment & { readonly sources: StorySources };

const storySettings = {
  timings,
  webhookWait: settings.webhookWaitSeconds,
  startRetry: { first: settings.startRetryFirstSeconds, every: settings.startRetryEverySeconds, backoff: 2 },
  poll: { first: settings.pollFirstSeconds, every: settings.pollEverySeconds, backoff: settings.pollBackoff },
};

const placeOf = (item: StoredEntry | undefined): PlaceFacts | undefined => {
  if (item === undefined) return undefined;
  const { requestId, waitingSince, waitedMs, callbackToken } = item;
  return { requestId, ...defined({ waitingSince }), waitedMs, isWaiting: callbackToken !== undefined };
};

const deniable = ['record', 'execution', 'settings', 'task', 'holds', 'logs'] as const;

/** The sources as they are now, of which some are denied. */
const sourcesNow = (
  world: World,
  events: readonly TraceEvent[],
  { denied, isSweepOn, forged }: Pick<Moment, 'denied' | 'isSweepOn' | 'forged'>,
): StorySources => {
  const now = world.kernel.now;
  const history = events.flatMap(({ kind, content }) => (kind === 'history' ? [content] : []));
  const logged = events.flatMap(({ kind, content }) => (kind === 'logged' ? [content] : []));
  const { record } = world;
  const task = world.tasks.get(record?.taskId ?? '');
  const holds = holdsIn(new Map(world.breakers), new Date(now));
  const execution: Execution | undefined =
    history[0] === undefined ? undefined : { startedAt: history[0].at, events: history };
  const refused = Array.from({ length: forged }, () => ({ at: new Date(now).toISOString() }));
  const answers: { readonly [Name in keyof StorySources]: Awaited<ReturnType<StorySources[Name]>> } = {
    settings: storySettings,
    record,
    task: task === undefined ? undefined : { ...task },
    execution,
    logs: { items: logged, complete: true },
    deliveries: { items: refused.map((one) => ({ ...one, verifiedBy: undefined })), complete: true },
    holds,
    sweep: { enabled: isSweepOn, everyMinutes: settings.sweepEveryMinutes },
    place: placeOf(world.line.items.get(theExtraction)),
    line: { lanes: [] },
  };
  const entries = Object.entries(answers).map(([name, answer]) => [
    name,
    async () => {
      if (denied.has(name as keyof StorySources)) throw new Error('denied');
      return answer;
    },
  ]);
  return Object.fromEntries(entries) as unknown as StorySources;
};

/**
 * Runs the world of a seed, or of a scenario without departures. Asks for the story at moments that the seed draws, and returns what it
 * stated, beside what happened.
 */
export const observeWorld = async (
  seed: number,
  scenario?: Scenario,
): Promise<{ readonly trace: Trace; readonly stated: readonly Stated[] }> => {
  const events: TraceEvent[] = [];
  const asked: Asked[] = [];
  const random = randomOf(seed * 7_919);
  const ask = (world: World): void => {
    const denied = new Set(random.below(8) === 0 ? [random.pick(deniable)] : []);
    const moment = {
      denied,
      isSweepOn: random.below(8) !== 0,
      forged: random.below(8) === 0 ? random.below(4) : 0,
    };
    const { record, kernel } = world;
    const sources = sourcesNow(world, events, moment);
    asked.push({ ...moment, now: kernel.now, position: events.length, record, sources });
  };
  const listener: Listener = {
    fact: (kind, content, world) => {
      events.push({ kind, at: world.kernel.now, content } as TraceEvent);
    },
    chosen: (world) => {
      if (random.below(12) === 0) ask(world);
    },
  };
  const { world } =
    scenario === undefined
      ? (await runSeed(seed, listener)).ran
      : await runWorld(scenario, () => 0, listener);
  ask(world);
  const stated: Stated[] = [];
  for (const { sources, ...moment } of asked) {
    const now = new Date(moment.now);
    const known = await gather(sources, { extractionId: theExtraction, now, command: commandTextOf() });
    if (!isKnown(known)) continue;
    for (const fact of headlineFacts(known)) stated.push({ moment, fact: defined(fact) as StoryFact });
  }
  return { trace: { events, world }, stated };
};
