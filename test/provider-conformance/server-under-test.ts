import { afterAll, expect, type TestContext, test } from 'vitest';
import {
  type Connection,
  createProviderClient,
  freshConnectionFetch,
  type ProviderClient,
  type ProviderClientOptions,
  type TaskRequest,
  type TaskToken,
  type WaitOptions,
} from '#lib/provider/index.ts';
import { newNationalId } from '../../sandbox/consents/national-id.ts';
import { type SandboxControl, sandboxControl } from '../../sandbox/control-client.ts';
import { DEMO_BUSINESS_ID } from '../../sandbox/outcome-table.ts';
import type { Plan, Restrictions } from '../../sandbox/plan-schemas.ts';
import { DEFAULT_WIDGET_CONFIG_ID } from '../../sandbox/registered-client.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';

/**
 * The server that the statements are tested against: our sandbox, started for each file, or the one in the environment
 * variables (docs/provider-client.md lists them). Statements that need what a server lacks are skipped with the reason.
 */

/** What a statement may need beyond an API key, and the variables to set for it. */
const needs = {
  /** Clock, plans, faults and other clients. Only our sandbox has a control interface. */
  control: 'the control interface of the sandbox',
  /** OTP tokens. */
  widget: 'PROVIDER_CLIENT_ID and PROVIDER_WIDGET_CONFIG_ID',
  /** Task Tokens. */
  target: 'PROVIDER_CLIENT_ID and PROVIDER_TARGET',
  /** An active consent of that target. */
  consent: 'PROVIDER_CLIENT_ID, PROVIDER_TARGET, PROVIDER_CONSENT_ID and PROVIDER_PRODUCT',
  /** Credentials of an entity that complete. */
  credentials: 'PROVIDER_ENTITY, PROVIDER_USERNAME and PROVIDER_PASSWORD',
  /** Credentials that determine the outcome. The document omits them. */
  outcomes: 'PROVIDER_ENTITY and PROVIDER_OUTCOMES',
  /** Temporary encryption, "activated for the client beforehand". */
  encryption: 'PROVIDER_ENCRYPTION=1, once temporary encryption is activated',
  /** `responseType`. */
  presets: 'PROVIDER_PRESETS=1, of a sandbox',
} as const;
type Need = keyof typeof needs;

export type Outcome =
  | 'COMPLETED'
  | 'COMPLETED_BOTH'
  | 'PARTIAL'
  | 'FAILED'
  | 'CREDENTIALS_WRONG'
  | 'CREDENTIALS_LOCKED';
type Pair = { readonly username: string; readonly businessId?: string; readonly password?: string };

type ServerUnderTest = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clientId: string;
  readonly widgetConfigId: string;
  readonly entity: string;
  readonly control: SandboxControl | undefined;
  readonly has: (need: Need) => boolean;
  readonly pairFor: (outcome: Outcome) => Pair;
  readonly waiting: WaitOptions;
  readonly close: () => Promise<void>;
};

const startOurs = async (): Promise<ServerUnderTest> => {
  const sandbox = await startSandbox({ taskDurationMs: 40 });
  return {
    ...sandbox,
    widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
    entity: 'demo-business-bank',
    control: sandboxControl(sandbox.baseUrl),
    has: () => true,
    // The usernames of its table are the outcomes, such as `credentials-wrong`.
    pairFor: (outcome) => ({
      username: outcome.toLowerCase().replace('_', '-'),
      businessId: DEMO_BUSINESS_ID,
    }),
    waiting: { firstDelayMs: 15, maxDelayMs: 50, deadlineMs: 100_000 },
  };
};

const named = (baseUrl: string, env: NodeJS.ProcessEnv): ServerUnderTest => {
  const outcomes = JSON.parse(env.PROVIDER_OUTCOMES ?? '{}') as Partial<Record<Outcome, Pair>>;
  const own: Pair = {
    username: env.PROVIDER_USERNAME ?? '',
    ...(env.PROVIDER_BUSINESS_ID === undefined ? {} : { businessId: env.PROVIDER_BUSINESS_ID }),
  };
  const all = (...names: readonly string[]) => names.every((name) => (env[name] ?? '') !== '');
  const met: Readonly<Record<Need, boolean>> = {
    control: false,
    widget: all('PROVIDER_CLIENT_ID', 'PROVIDER_WIDGET_CONFIG_ID'),
    target: all('PROVIDER_CLIENT_ID', 'PROVIDER_TARGET'),
    consent: all('PROVIDER_CLIENT_ID', 'PROVIDER_TARGET', 'PROVIDER_CONSENT_ID', 'PROVIDER_PRODUCT'),
    credentials: all('PROVIDER_ENTITY', 'PROVIDER_USERNAME', 'PROVIDER_PASSWORD'),
    outcomes: all('PROVIDER_ENTITY', 'PROVIDER_OUTCOMES'),
    encryption: env.PROVIDER_ENCRYPTION === '1',
    presets: env.PROVIDER_PRESETS === '1',
  };
  return {
    baseUrl,
    apiKey: env.PROVIDER_API_KEY ?? '',
    clientId: env.PROVIDER_CLIENT_ID ?? '',
    widgetConfigId: env.PROVIDER_WIDGET_CONFIG_ID ?? '',
    entity: env.PROVIDER_ENTITY ?? 'demo-bank',
    control: undefined,
    has: (need) => met[need],
    pairFor: (outcome) => outcomes[outcome] ?? own,
    waiting: { deadlineMs: 300_000 },
    close: async () => {},
  };
};

const { PROVIDER_BASE_URL } = process.env;
export const server =
  PROVIDER_BASE_URL === undefined ? await startOurs() : named(PROVIDER_BASE_URL, process.env);
afterAll(server.close);

type Run = (context: TestContext) => Promise<void>;

/** A test of one statement of the document, which is its name. */
export const statementNeeding = (needed: readonly Need[], name: string, run: Run): void => {
  const missing = needed.filter((need) => !server.has(need));
  // A real provider takes minutes for an extraction.
  test(name, { timeout: server.control === undefined ? 300_000 : 120_000 }, async (context) => {
    if (missing.length > 0) context.skip(`needs ${missing.map((need) => needs[need]).join('; ')}`);
    await run(context);
  });
};

/** The same of one that only our sandbox can be asked for, as most are. */
export const statement = (name: string, run: Run): void => statementNeeding(['control'], name, run);

/** The control interface, for statements that need it. */
export const control = (): SandboxControl => {
  if (server.control === undefined)
    throw new Error('The statement is none of `statement`, which needs the control interface.');
  return server.control;
};

export const clientWith = (more: Partial<ProviderClientOptions> = {}): ProviderClient =>
  createProviderClient({
    baseUrl: server.baseUrl,
    apiKey: server.apiKey,
    clientId: server.clientId,
    ...more,
  });

export const client = clientWith();

/** A connection for calls with explicit tokens. */
export const connection: Connection = {
  baseUrl: server.baseUrl,
  fetch: freshConnectionFetch(3_000),
  totalTimeoutMs: 20_000,
  maxAnswerBytes: 32 * 1024 * 1024,
};

export const { waiting } = server;

let lastTarget = 5_000_000;
/** A user that no other statement uses, or PROVIDER_TARGET. */
export const someTarget = (): string => {
  lastTarget += 1;
  return process.env.PROVIDER_TARGET ?? newNationalId(lastTarget);
};

type Order = Parameters<ProviderClient['startExtraction']>[1];
type Product = Order['product'];

/** An active consent, the Task Token of its user, and a product that it authorizes. `plan` is that of the user. */
export const someConsent = async (product: Product = 'movement', plan?: Plan) => {
  const target = someTarget();
  const token = await client.createTaskToken(target);
  const { PROVIDER_CONSENT_ID: ownId = '', PROVIDER_PRODUCT: ownProduct } = process.env;
  const granted = (order: Order) => ({
    target,
    token,
    order,
    ...order,
  });
  if (server.control === undefined) return granted({ consentId: ownId, product: ownProduct as Product });
  if (plan !== undefined) await server.control.setPlan(target, plan);
  const { consentId } = await server.control.createConsent({ owner: target, products: [product] });
  return granted({ consentId, product });
};

export const january = { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } };
export const movement: TaskRequest['actions'] = [{ id: 'movement', params: january }];
const balanceAndMovement: TaskRequest['actions'] = [{ id: 'product-balance' }, ...movement];

/** The raw credentials for an outcome. */
export const credentialsFor = (outcome: Outcome = 'COMPLETED') => ({
  password: process.env.PROVIDER_PASSWORD ?? 'any-password',
  ...server.pairFor(outcome),
});

export const taskFor = (outcome: Outcome, actions = balanceAndMovement): TaskRequest => ({
  entity: server.entity,
  credentials: { mode: 'raw', value: credentialsFor(outcome) },
  actions,
});

/** A request for an OTP token, of a user that no other statement uses. */
export const otpRequest = () => ({
  products: ['tef', 'movement'] as const,
  widgetConfigId: server.widgetConfigId,
  user: { username: someTarget() },
});

let users = 0;
/** Credentials that complete, with a username that no other statement uses. */
export const newUser = () => {
  users += 1;
  return { username: `user-${users}`, password: 'any-password', businessId: DEMO_BUSINESS_ID };
};

export const taskOf = (user: ReturnType<typeof newUser>, actions = balanceAndMovement): TaskRequest => ({
  entity: server.entity,
  credentials: { mode: 'raw', value: user },
  actions,
});

/** The same, after its username was given a plan. */
export const plannedUser = async (plan: Plan) => {
  const user = newUser();
  await control().setPlan(user.username, plan);
  return user;
};

/** Starts a v2 task and waits for its end. */
export const endOf = async (request: TaskRequest) =>
  client.waitForTask(await client.startTask(request), waiting);

/** The same for a legacy task, and for an extraction by consent in v1 and v2. */
export const legacyEndOf = async (...request: Parameters<ProviderClient['startLegacyTask']>) =>
  client.waitForLegacyTask(await client.startLegacyTask(...request), waiting);
export const extracted = async (token: TaskToken, order: Order) =>
  client.waitForExtraction(token, await client.startExtraction(token, order), waiting);
export const extractedV2 = async (token: TaskToken, order: Order) =>
  client.waitForExtractionV2(token, await client.startExtractionV2(token, order), waiting);

export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The call fails with an error of this class, and with these fields. */
export const fails = async (
  call: Promise<unknown>,
  kind: abstract new (...parameters: never[]) => Error,
  fields: object = {},
): Promise<void> => {
  const failure = await failureOf(call);
  expect(failure).toBeInstanceOf(kind);
  expect(failure).toMatchObject(fields);
};

/** Runs with restrictions of our client. */
export const whileRestricted = async <Result>(
  restrictions: Restrictions,
  run: () => Promise<Result>,
): Promise<Result> => {
  await control().setRestrictions(server.clientId, restrictions);
  return run().finally(() => control().setRestrictions(server.clientId, {}));
};

/** The last call that the sandbox received on a path. */
export const lastCall = async (path: string) => (await control().calls({ path })).at(-1);
