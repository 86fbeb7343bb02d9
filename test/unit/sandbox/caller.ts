import { sandboxControl } from '../../../sandbox/control-client.ts';
import type { RunningSandbox } from '../../../sandbox/sandbox.ts';

/** It has a valid check digit. */
export const PERSON = '11111111-1';

/** The possible fields of the answers. */
type AnswerBody = {
  readonly data: {
    readonly otpToken: string;
    readonly consentId: string;
    readonly taskToken: string;
    readonly taskId: string;
    readonly url: string;
  };
  readonly token: string;
  readonly taskId: string;
  readonly invalid?: readonly string[];
};

/** A client of the sandbox that uses only fetch. */
export const callerOf = ({ baseUrl, apiKey, clientId }: RunningSandbox) => {
  const control = sandboxControl(baseUrl);

  const call = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${baseUrl}${path}`, { method, headers, ...sent });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const key = { 'x-api-key': apiKey };

  const caller = {
    get: (token: string, path: string) => call('GET', path, bearer(token)),
    post: (token: string, path: string, body: unknown) => call('POST', path, bearer(token), body),
    login: async (expire?: number): Promise<string> =>
      (await call('POST', '/api/v1/auth/login', key, { expire })).body.token,
    startTask: async (request: unknown): Promise<string> =>
      (await caller.post(await caller.login(), '/api/v2/tasks', request)).body.taskId,
    createOtp: (more: Readonly<Record<string, unknown>> = {}) =>
      call('POST', '/api/v1/token/otp/create', key, {
        products: ['movement', 'tef'],
        user: { username: PERSON },
        clientId,
        widgetConfigId: 'sandbox-widget',
        ...more,
      }),
    otp: async (more?: Readonly<Record<string, unknown>>) => (await caller.createOtp(more)).body.data,
    taskToken: async (target: string = PERSON): Promise<string> =>
      (await call('POST', '/api/v1/token/task', key, { target, clientId })).body.data.taskToken,
    /** Creates an authorized consent of `owner`. */
    consent: async (owner: string = PERSON) =>
      (await control.createConsent({ owner, products: ['movement'], clientId })).consentId,
  };
  return caller;
};

/** A valid request with raw credentials. `more` overrides its fields. */
export const requestFor = (username: string, more: Readonly<Record<string, unknown>> = {}) => ({
  entity: 'demo-bank',
  credentials: { mode: 'raw', value: { username, password: 'any-password', businessId: '77777777-7' } },
  actions: [{ id: 'product-balance' }, { id: 'tef' }],
  ...more,
});
