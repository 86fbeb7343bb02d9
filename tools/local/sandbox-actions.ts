import { randomUUID } from 'node:crypto';
import { ApiError, type ExtractionRequest, extractionsClient } from '../../lib/client/index.ts';
import { SandboxControlError } from '../../sandbox/control-client.ts';
import { DEMO_BUSINESS_ID, OUTCOMES } from '../../sandbox/outcome-table.ts';
import type { Fault, Plan } from '../../sandbox/plan-schemas.ts';
import { DEFAULT_CLIENT_ID } from '../../sandbox/sandbox.ts';
import type { ActionResult, ConsoleAction, SandboxState } from '../cli/console/actions/action-types.ts';
import { CliError } from '../cli/terminal/errors.ts';
import type { LocalSystem } from './local-system.ts';

type System = Pick<LocalSystem, 'api' | 'provider' | 'endOutage'> & {
  /** Reports what goes wrong after the page has answered. */
  readonly report: (line: string) => void;
};

/** Test data with a valid check digit. */
export const person = '11111111-1';

/**
 * An extraction that ends as the sandbox's table of outcomes says of this username. Each has a password of its own, because refused
 * ones are not sent again.
 */
export const outcomeRequest = (username: string) =>
  ({
    entity: 'demo-bank',
    credentials: { mode: 'raw', value: { businessId: DEMO_BUSINESS_ID, username, password: randomUUID() } },
    actions: [
      { id: 'product-balance' },
      { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
    ],
  }) as const;

const request = async ({ api }: System, body: ExtractionRequest, what: string): Promise<ActionResult> => {
  const client = extractionsClient({ apiUrl: api.base, fetch: api.fetch });
  const { extraction } = await client.requestExtraction({ ...body, reference: `sandbox: ${what}` });
  return { text: `Requested: ${what}.`, extractionId: extraction.extractionId };
};

type Scenario = Pick<ConsoleAction, 'label' | 'effect' | 'endsFaults'> & {
  readonly run: (system: System, what: string) => Promise<ActionResult>;
};

/** An extraction of a user of its own, for which the provider behaves as planned. */
const planned = (label: string, effect: string, plan: Plan): Scenario => ({
  label,
  effect,
  run: async (system, what) => {
    const username = `console-${randomUUID()}`;
    await system.provider.setPlan(username, plan);
    return request(system, outcomeRequest(username), what);
  },
});

const outcomes: readonly Scenario[] = [
  ...OUTCOMES.map(
    ({ username, taskStatus, ask }): Scenario => ({
      label: username === taskStatus.toLowerCase() ? taskStatus : `${taskStatus}: ${username}`,
      effect: ask,
      run: (system, what) => request(system, outcomeRequest(username), what),
    }),
  ),
  {
    label: 'COMPLETED: by consent',
    effect: "under a user's consent; there is no webhook, so it is polled",
    run: async (system, what) => {
      const product = 'movement';
      const { consentId } = await system.provider.createConsent({ owner: person, products: [product] });
      return request(system, { method: 'consent', product, consentId, target: person }, what);
    },
  },
  planned('REJECTED', 'the provider answers the start call with 400', {
    startForever: { kind: 'answer', status: 400 },
  }),
  planned('UNCONFIRMED', 'the provider accepts the start call and never answers it', {
    startForever: { kind: 'accept-then-silence' },
  }),
  planned('NOT_STARTED', 'the provider answers 429 until the start window of one minute is over', {
    startForever: { kind: 'answer', status: 429 },
  }),
  planned('TIMED_OUT', 'the task never ends, and the deadline passes after two minutes', {
    durationMs: null,
  }),
];

const webhooks: readonly Scenario[] = [
  planned('lost', 'no delivery arrives, so the machine polls after 20 s', { webhook: { enabled: false } }),
  // Long enough to see the extraction wait, and shorter than those 20 s.
  planned('delayed', 'the delivery comes 10 s after the end of the task', {
    webhook: { scheduleMs: [10_000] },
  }),
  planned('forged', 'its signature is wrong in every delivery, so each is refused with 401', {
    webhook: { tamper: 'signature' },
  }),
  planned('repeated', 'each delivery is sent three times', { webhook: { duplicate: 2 } }),
  planned('encrypted', 'the delivery is in encrypted mode', { webhook: { mode: 'encrypted' } }),
  planned('refused once', 'the first delivery is not sent, and the second comes after 2 s', {
    webhook: { drop: [1], scheduleMs: [0, 2_000] },
  }),
];

/** The local stage calls it a failed read, or an unanswered start, after 2 s. */
const outageSeconds = 30;

const changed = (label: string, effect: string, change: (system: System) => Promise<unknown>): Scenario => ({
  label,
  effect,
  run: async (system) => {
    await change(system);
    return { text: `The provider: ${effect}.` };
  },
});

/** Ends by time: what is left of a number of calls would fail the next extraction, minutes later. */
const failing =
  (behaviour: Fault['behaviours'][number]) =>
  ({ provider }: System): Promise<unknown> =>
    provider.setFaults([{ path: '/api/*', behaviours: [behaviour], forSeconds: outageSeconds }]);

const during = `for ${outageSeconds} s`;

const provider: readonly Scenario[] = [
  changed(`Stop ${during}`, 'it refuses every connection', (system) => system.provider.goDown(outageSeconds)),
  changed(
    `Hang ${during}`,
    `it accepts calls and never answers them, ${during}`,
    failing({ kind: 'silence' }),
  ),
  changed(
    `Answer 503 ${during}`,
    `it answers every call with 503, ${during}`,
    failing({ kind: 'answer', status: 503 }),
  ),
  {
    ...changed('End it: answer as usual', 'it answers as usual again', async (system) => {
      await system.endOutage();
      await system.provider.setFaults([]);
      await system.provider.setRestrictions(DEFAULT_CLIENT_ID, {});
    }),
    endsFaults: true,
  },
];

/** A provider with a token bucket. Without the few at once, it would refuse two calls for coming closer together than their starts. */
const crowdRate = { startsPerSecond: 2, startsAtOnce: 5 };
const crowdSize = 200;

/** All of a batch. The page answers when some are requested, as all take the emulator some 20 s. */
const requestCrowd = async ({ api, report }: System, batch: string): Promise<void> => {
  const client = extractionsClient({ apiUrl: api.base, fetch: api.fetch });
  const requests = Array.from({ length: crowdSize }, (_, index) => ({
    ...outcomeRequest(`crowd-${randomUUID()}`),
    reference: `${index + 1} of ${batch}`,
  }));
  await new Promise<void>((resolve, reject) => {
    client
      .requestAll(requests, { batch, onProgress: () => resolve() })
      .then(({ refused }) => {
        if (refused.length > 0) report(`${refused.length} of ${batch} were refused.`);
        resolve();
      })
      .catch((error: unknown) => {
        report(`Not all of ${batch} were requested: ${String(error)}`);
        reject(error);
      });
  });
};

const crowd: readonly Scenario[] = [
  {
    label: `${crowdSize} requests at a provider that takes ${crowdRate.startsPerSecond} a second`,
    effect: 'it answers 429 to more, until you end it; the page Line shows how they pass',
    run: async (system) => {
      const batch = `crowd-${new Date().toISOString().slice(0, 19)}`;
      await system.provider.setRestrictions(DEFAULT_CLIENT_ID, crowdRate);
      await requestCrowd(system, batch);
      return { text: `${crowdSize} are being requested.`, list: { batch } };
    },
  },
];

const groups = {
  'Start an extraction that ends': outcomes,
  'Start an extraction whose webhook is': webhooks,
  'The provider': provider,
  'A crowd': crowd,
};

/** The panel of the console that drives the sandbox of the provider. Only `npm start` has it. */
export const sandboxActions = (system: System): readonly ConsoleAction[] =>
  Object.entries(groups).flatMap(([group, scenarios]) =>
    scenarios.map(({ run, ...scenario }) => ({
      ...scenario,
      group,
      place: 'sandbox' as const,
      id: `sandbox-${scenario.label.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
      run: () =>
        run(system, scenario.label).catch((cause: unknown) => {
          if (!(cause instanceof SandboxControlError || cause instanceof ApiError)) throw cause;
          throw new CliError(cause.message, { cause });
        }),
    })),
  );

/** What the sandbox does wrong now, in sentences. */
export const sandboxState = async ({
  provider: control,
}: Pick<System, 'provider'>): Promise<SandboxState> => {
  try {
    const { clients, faults, now } = await control.summary();
    const rates = clients.flatMap(({ restrictions: { startsPerSecond: rate } }) =>
      rate === undefined ? [] : [`The provider takes ${rate} starts a second, and answers 429 to more.`],
    );
    const failing = faults.map(({ behaviours: [next], endsAt = now }) => {
      const what =
        next?.kind === 'answer' ? `answers with ${next.status}` : 'accepts calls and never answers them';
      const left = Math.ceil((Date.parse(endsAt) - Date.parse(now)) / 1_000);
      return `The provider ${what}, for ${left} s more.`;
    });
    return { active: [...rates, ...failing] };
  } catch (error) {
    if (!(error instanceof SandboxControlError)) throw error;
    return { active: [`The provider refuses every connection, for ${outageSeconds} s from when it began.`] };
  }
};
