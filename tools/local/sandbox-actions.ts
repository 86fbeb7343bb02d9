import { randomUUID } from 'node:crypto';
import { type SandboxControl, SandboxControlError } from '../../test/sandbox/control-client.ts';
import { DEMO_BUSINESS_ID, OUTCOMES } from '../../test/sandbox/outcomes.ts';
import type { Plan } from '../../test/sandbox/plan.ts';
import type { ActionResult, ConsoleAction, SandboxState } from '../cli/console/actions.ts';
import { CliError } from '../cli/terminal/errors.ts';
import type { LocalSystem } from './local-system.ts';

type System = Pick<LocalSystem, 'api' | 'provider' | 'endOutage'>;

/** Test data with a valid check digit. */
const person = '11111111-1';

const actions = [
  { id: 'product-balance' },
  { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
];

/** Requests an extraction, as a caller does. Throws CliError if the API refuses it. */
const request = async ({ api }: System, body: object, what: string): Promise<ActionResult> => {
  const answer = await api.fetch(`${api.base}/extractions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, reference: `sandbox: ${what}` }),
  });
  if (!answer.ok)
    throw new CliError(`The API answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
  const { extractionId } = (await answer.json()) as { readonly extractionId: string };
  return { text: `Requested: ${what}.`, extractionId };
};

const requestAs = (system: System, username: string, what: string): Promise<ActionResult> => {
  const value = { businessId: DEMO_BUSINESS_ID, username, password: 'any-will-do' };
  return request(system, { entity: 'demo-bank', credentials: { mode: 'raw', value }, actions }, what);
};

/** An extraction of a user of its own, for which the provider behaves as planned. */
const requestPlanned = async (system: System, plan: Plan, what: string): Promise<ActionResult> => {
  const username = `console-${randomUUID()}`;
  await system.provider.setPlan(username, plan);
  return requestAs(system, username, what);
};

const requestByConsent = async (system: System, what: string): Promise<ActionResult> => {
  const product = 'movement';
  const { consentId } = await system.provider.createConsent({ owner: person, products: [product] });
  return request(system, { method: 'consent', product, consentId, target: person }, what);
};

type Scenario = {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly effect: string;
  readonly endsFaults?: true;
  readonly run: (system: System, what: string) => Promise<ActionResult>;
};

const outcomes: readonly Scenario[] = [
  ...OUTCOMES.map(
    ({ username, taskStatus, ask }): Scenario => ({
      id: `outcome-${username}`,
      group: 'Start an extraction that ends',
      label: username === taskStatus.toLowerCase() ? taskStatus : `${taskStatus}: ${username}`,
      effect: ask,
      run: (system, what) => requestAs(system, username, what),
    }),
  ),
  {
    id: 'outcome-consent',
    group: 'Start an extraction that ends',
    label: 'COMPLETED: by consent',
    effect: "under a user's consent; there is no webhook, so it is polled",
    run: requestByConsent,
  },
  {
    id: 'outcome-rejected',
    group: 'Start an extraction that ends',
    label: 'REJECTED',
    effect: 'the provider answers the start call with 400',
    run: (system, what) => requestPlanned(system, { startForever: { kind: 'answer', status: 400 } }, what),
  },
  {
    id: 'outcome-unconfirmed',
    group: 'Start an extraction that ends',
    label: 'UNCONFIRMED',
    effect: 'the provider accepts the start call and never answers it',
    run: (system, what) => requestPlanned(system, { startForever: { kind: 'accept-then-silence' } }, what),
  },
  {
    id: 'outcome-not-started',
    group: 'Start an extraction that ends',
    label: 'NOT_STARTED',
    effect: 'the provider answers 429 until the start window of one minute is over',
    run: (system, what) => requestPlanned(system, { startForever: { kind: 'answer', status: 429 } }, what),
  },
  {
    id: 'outcome-timed-out',
    group: 'Start an extraction that ends',
    label: 'TIMED_OUT',
    effect: 'the task never ends, and the deadline passes after two minutes',
    run: (system, what) => requestPlanned(system, { durationMs: null }, what),
  },
];

/** Long enough to see the extraction wait. The local stage polls after 20 s without a webhook. */
const delayedMs = 10_000;

const webhooks: readonly Scenario[] = (
  [
    ['lost', 'no delivery arrives, so the machine polls after 20 s', { enabled: false }],
    ['delayed', 'the delivery comes 10 s after the end of the task', { scheduleMs: [delayedMs] }],
    [
      'forged',
      'its signature is wrong in every delivery, so each is refused with 401',
      { tamper: 'signature' },
    ],
    ['repeated', 'each delivery is sent three times', { duplicate: 2 }],
    ['encrypted', 'the delivery is in encrypted mode', { mode: 'encrypted' }],
    [
      'refused once',
      'the first delivery is not sent, and the second comes after 2 s',
      { drop: [1], scheduleMs: [0, 2_000] },
    ],
  ] as const
).map(([name, effect, webhook]) => ({
  id: `webhook-${name.replace(' ', '-')}`,
  group: 'Start an extraction whose webhook is',
  label: name,
  effect,
  run: (system: System, what: string) =>
    requestPlanned(system, { webhook: { ...webhook } as NonNullable<Plan['webhook']> }, what),
}));

/** The local stage calls it a failed read, or an unanswered start, after 2 s. */
const outageSeconds = 30;

const fault = (behaviour: Parameters<SandboxControl['setFaults']>[0][number]['behaviours'][number]) =>
  ({ path: '/api/*', behaviours: Array.from({ length: 20 }, () => behaviour) }) as const;

const provider: readonly Scenario[] = [
  {
    id: 'provider-stop',
    group: 'The provider',
    label: `Stop for ${outageSeconds} s`,
    effect: 'it refuses every connection',
    run: async ({ provider: control }) => {
      await control.goDown(outageSeconds);
      return { text: `The provider refuses connections for ${outageSeconds} s.` };
    },
  },
  {
    id: 'provider-hang',
    group: 'The provider',
    label: 'Hang',
    effect: 'it accepts the next 20 calls and never answers them',
    run: async ({ provider: control }) => {
      await control.setFaults([fault({ kind: 'silence' })]);
      return { text: 'The provider does not answer the next 20 calls.' };
    },
  },
  {
    id: 'provider-fail',
    group: 'The provider',
    label: 'Answer 503',
    effect: 'it answers the next 20 calls with 503',
    run: async ({ provider: control }) => {
      await control.setFaults([fault({ kind: 'answer', status: 503 })]);
      return { text: 'The provider answers the next 20 calls with 503.' };
    },
  },
  {
    id: 'provider-recover',
    group: 'The provider',
    label: 'End it: answer as usual',
    effect: 'it answers as usual again',
    endsFaults: true,
    run: async ({ provider: control, endOutage }) => {
      await endOutage();
      await control.setFaults([]);
      return { text: 'The provider answers as usual.' };
    },
  },
];

/** The panel of the console that drives the sandbox of the provider. Only `npm start` has it. */
export const sandboxActions = (system: System): readonly ConsoleAction[] =>
  [...outcomes, ...webhooks, ...provider].map(({ run, ...action }) => ({
    ...action,
    place: 'sandbox' as const,
    changes: true,
    run: () =>
      run(system, action.label).catch((cause: unknown) => {
        if (!(cause instanceof SandboxControlError)) throw cause;
        throw new CliError(`${cause.message}.`, { cause });
      }),
  }));

const inWords: Readonly<Record<string, string>> = { silence: 'accepts calls and never answers them' };

/** What the sandbox does wrong now, in sentences. */
export const sandboxState = async ({
  provider: control,
}: Pick<System, 'provider'>): Promise<SandboxState> => {
  try {
    const { faults } = await control.summary();
    const active = faults.map(({ behaviours }) => {
      const [next] = behaviours;
      const what =
        next?.kind === 'answer'
          ? `answers with ${next.status}`
          : (inWords[next?.kind ?? ''] ?? `misbehaves (${next?.kind})`);
      return `The provider ${what}, for the next ${behaviours.length === 1 ? 'call' : `${behaviours.length} calls`}.`;
    });
    return { active };
  } catch (error) {
    if (!(error instanceof SandboxControlError)) throw error;
    return { active: [`The provider refuses every connection, for ${outageSeconds} s from when it began.`] };
  }
};
