import type { Fault, Plan, ReadBehaviour, StartBehaviour, WebhookPlan } from '../../sandbox/plan-schemas.ts';
import { TERMINAL_STATUSES } from '../../sandbox/task-vocabulary.ts';
import { type Random, randomOf } from '../support/data/random.ts';
import { drawFailure } from './draw-failure.ts';

const named = <const Kind extends string>(...kinds: readonly Kind[]) => kinds.map((kind) => ({ kind }));

const starts: readonly StartBehaviour[] = [
  ...[400, 429].map((status) => ({ kind: 'answer', status }) as const),
  ...named('expire-session', 'finish-first', 'reset', 'silence', 'accept-then-silence', 'trickle'),
  { kind: 'refuse', preset: 'processAlreadyRunning' },
  { kind: 'slow', delayMs: 1_200 },
  { kind: 'reset', taken: false },
  { kind: 'accept-then-answer', status: 503 },
];
const reads: readonly ReadBehaviour[] = [
  ...named('silence', 'expire-session', 'reset'),
  { kind: 'answer', status: 429, headers: { 'retry-after': '5' } },
  { kind: 'answer', status: 502, body: '<html>' },
  { kind: 'status', taskStatus: 'PAUSED' },
  { kind: 'big', bytes: 1_000_000 },
];
const webhooks: readonly WebhookPlan[] = [
  { enabled: false },
  { duplicate: 2, keepRetryingAfterSuccess: true, scheduleMs: [0, 1_000, 40_000] },
  { drop: [1], scheduleMs: [0, 4_000] },
  { scheduleMs: [12_000, 60_000] },
  { tamper: 'signature' },
  { mode: 'encrypted' },
];
const behaviours: Fault['behaviours'] = [
  ...[429, 500, 503].map((status) => ({ kind: 'answer', status }) as const),
  ...named('silence', 'reset'),
  { kind: 'slow', delayMs: 1_500 },
];
const paths = ['/api/*', '/api/v2/tasks*', '/api/v1/products/*', '/api/v1/auth/login'];
/** null: the task does not end by itself. Repeated values are more frequent. */
const durations = [0, 300, 300, 1_500, 1_500, 1_500, 8_000, 8_000, 40_000, null];

const oneIn = <T>(random: Random, many: number, draw: () => T): T | undefined =>
  random.below(many) === 0 ? draw() : undefined;

const drawPlan = (random: Random): Plan => ({
  outcome: random.pick(TERMINAL_STATUSES),
  durationMs: random.pick(durations),
  ...oneIn(random, 5, () => ({ start: [random.pick(starts)] })),
  ...oneIn(random, 20, () => ({ startForever: random.pick(starts.slice(0, 2)) })),
  ...oneIn(random, 3, () => ({ read: [random.pick(reads), random.pick(reads)] })),
  ...oneIn(random, 2, () => ({ webhook: random.pick(webhooks) })),
});

/** A restart: the provider refuses connections for so long, and has forgotten its tokens. Or it fails at a path. */
const drawTrouble = (random: Random): { readonly restartSeconds: number } | { readonly fault: Fault } => {
  const forSeconds = 2 + random.below(12);
  if (random.below(3) === 0) return { restartSeconds: forSeconds };
  return { fault: { path: random.pick(paths), behaviours: [random.pick(behaviours)], forSeconds } };
};

/** Times until the end, in milliseconds, at this interval in the mean. */
const drawTimes = (random: Random, endMs: number, meanMs: number): readonly number[] => {
  const times: number[] = [];
  const gap = () => Math.ceil(random.next() * 2 * meanMs);
  for (let at = gap(); at < endMs; at += gap()) times.push(at);
  return times;
};

/** All that happens in so many minutes, each with its time after the start. The seed decides all of it. */
export const drawStorm = (seed: number, minutes: number) => {
  const random = randomOf(seed);
  const every = (meanMs: number) => drawTimes(random, minutes * 60_000, meanMs);
  return {
    /** What the provider takes. Requests come at 0.5 a second: a line forms always, after a restart, or never. */
    startsPerSecond: random.pick([0.4, 1, 1_000]),
    requests: every(2_000).map((at, index) => ({
      at,
      /** The user at the provider, and the idempotency key. */
      name: `soak-${seed}-${index}`,
      byConsent: random.below(4) === 0,
      entity: random.pick(['demo-bank', 'santander', 'demo-savings-bank']),
      plan: drawPlan(random),
      /** How many times it is sent at once. */
      copies: random.below(8) === 0 ? 2 : 1,
    })),
    troubles: every(20_000).map((at) => ({ at, ...drawTrouble(random) })),
    failures: every(3_000).map((at) => ({ at, rule: drawFailure(random) })),
  };
};

export type Storm = ReturnType<typeof drawStorm>;
