import { sandboxControl } from '../../sandbox/control-client.ts';
import type { RunningSandbox } from '../../sandbox/sandbox.ts';

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
  readonly taskId: string;
  readonly taskStatus: string;
  readonly results: unknown;
  readonly invalid?: readonly string[];
};

/** A client of the consent flow that uses only fetch. */
export const consentCallerOf = ({ baseUrl, apiKey, clientId }: RunningSandbox) => {
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
    otpRequest: (more: Readonly<Record<string, unknown>> = {}) => ({
      products: ['movement', 'tef'],
      user: { username: PERSON },
      clientId,
      widgetConfigId: 'sandbox-widget',
      ...more,
    }),
    createOtp: (body: unknown) => call('POST', '/api/v1/token/otp/create', key, body),
    otp: async (more?: Readonly<Record<string, unknown>>) =>
      (await caller.createOtp(caller.otpRequest(more))).body.data,
    taskToken: async (target: string = PERSON): Promise<string> =>
      (await call('POST', '/api/v1/token/task', key, { target, clientId })).body.data.taskToken,
    /** Creates an authorized consent of `owner`. */
    consent: async (owner: string = PERSON) =>
      (await control.createConsent({ owner, products: ['movement'], clientId })).consentId,
  };
  return caller;
};
