import { afterAll, type TestContext, test } from 'vitest';
import {
  type Connection,
  createProviderClient,
  freshConnectionFetch,
  isNationalId,
  type ProviderClient,
  type ProviderClientOptions,
  type TaskRequest,
  type TaskToken,
  type WaitOptions,
} from '../../lib/provider/index.ts';
import { type SandboxControl, sandboxControl } from '../sandbox/control-client.ts';
import type { Restrictions } from '../sandbox/plan-schemas.ts';
import { DEFAULT_WIDGET_CONFIG_ID } from '../sandbox/registered-client.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

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
export type Need = keyof typeof needs;

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

/** The username of each outcome in our sandbox's table. */
const sandboxUsernames: Readonly<Record<Outcome, string>> = {
  COMPLETED: 'completed',
  COMPLETED_BOTH: 'completed-both',
  PARTIAL: 'partial',
  FAILED: 'failed',
  CREDENTIALS_WRONG: 'credentials-wrong',
  CREDENTIALS_LOCKED: 'credentials-locked',
};
export const businessId = '77777777-7';

const startOurs = async (): Promise<ServerUnderTest> => {
  const sandbox = await startSandbox({ taskDurationMs: 40 });
  return {
    ...sandbox,
    widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
    entity: 'demo-business-bank',
    control: sandboxControl(sandbox.baseUrl),
    has: () => true,
    pairFor: (outcome) => ({ username: sandboxUsernames[outcome], businessId }),
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

/** A test of one statement of the document. `name` is the statement. */
export const statement = (
  name: string,
  needed: readonly Need[],
  run: (context: TestContext) => Promise<void>,
): void => {
  const missing = needed.filter((need) => !server.has(need));
  // A real provider takes minutes for an extraction.
  test(name, { timeout: server.control === undefined ? 300_000 : 120_000 }, async (context) => {
    if (missing.length > 0) context.skip(`needs ${missing.map((need) => needs[need]).join('; ')}`);
    await run(context);
  });
};

/** The control interface, for statements that need it. */
export const control = (): SandboxControl => {
  if (server.control === undefined) throw new Error('The statement does not list `control` as a need.');
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
const newNationalId = (): string => {
  lastTarget += 1;
  const id = [...'0123456789K'].map((digit) => `${lastTarget}-${digit}`).find(isNationalId);
  return id ?? '';
};

/** A user that no other statement uses, or PROVIDER_TARGET. */
export const someTarget = (): string => process.env.PROVIDER_TARGET ?? newNationalId();

type Product = Parameters<ProviderClient['startExtraction']>[1]['product'];
export type Granted = {
  readonly target: string;
  readonly token: TaskToken;
  readonly consentId: string;
  readonly product: Product;
};

/** An active consent, the Task Token of its user, and a product that it authorizes. */
export const someConsent = async (product: Product = 'movement'): Promise<Granted> => {
  const target = someTarget();
  const token = await client.createTaskToken(target);
  const { PROVIDER_CONSENT_ID, PROVIDER_PRODUCT } = process.env;
  if (server.control === undefined) {
    return { target, token, consentId: PROVIDER_CONSENT_ID ?? '', product: PROVIDER_PRODUCT as Product };
  }
  const { consentId } = await server.control.createConsent({ owner: target, products: [product] });
  return { target, token, consentId, product };
};

export const january = { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } };
export const movement: TaskRequest['actions'] = [{ id: 'movement', params: january }];
export const balanceAndMovement: TaskRequest['actions'] = [{ id: 'product-balance' }, ...movement];

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

let users = 0;
/** Credentials that complete, with a username that no other statement uses. */
export const newUser = () => {
  users += 1;
  return { username: `user-${users}`, password: 'any-password', businessId };
};

export const taskOf = (user: ReturnType<typeof newUser>, actions = balanceAndMovement): TaskRequest => ({
  entity: server.entity,
  credentials: { mode: 'raw', value: user },
  actions,
});

export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

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
