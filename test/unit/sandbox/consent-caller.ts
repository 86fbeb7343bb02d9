import { sandboxControl } from '../../sandbox/control-client.ts';
import type { RunningSandbox } from '../../sandbox/sandbox.ts';

/** Test data with valid check digits. */
export const PERSON = '11111111-1';
export const OTHER_PERSON = '22222222-2';
export const COMPANY = '77777777-7';

/** The possible fields of the answers. */
export type AnswerBody = {
  readonly data: AnswerData;
  readonly taskId: string;
  readonly taskStatus: string;
  readonly taskStatusCode: number;
  readonly results: unknown;
  readonly errorType?: string;
  readonly errorCode?: string;
  readonly invalid?: readonly string[];
};

type AnswerData = {
  readonly otpToken: string;
  readonly taskToken: string;
  readonly taskId: string;
  readonly url: string;
  readonly consents: readonly { readonly id: string }[];
  readonly hasNext: boolean;
  readonly count: number;
  readonly status: string;
  readonly subStatus: string;
};

export type Answer<Body> = {
  readonly status: number;
  readonly body: Body;
};

/** A client of the consent flow that uses only fetch. */
export const consentCallerOf = ({ baseUrl, apiKey, clientId }: RunningSandbox) => {
  const control = sandboxControl(baseUrl);

  const call = async <Body = AnswerBody>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answer<Body>> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const key = { 'x-api-key': apiKey };

  const caller = {
    get: <Body = AnswerBody>(token: string, path: string) => call<Body>('GET', path, bearer(token)),
    post: (token: string, path: string, body: unknown) => call('POST', path, bearer(token), body),
    otpRequest: (more: Readonly<Record<string, unknown>> = {}) => ({
      products: ['movement', 'tef'],
      user: { username: PERSON },
      clientId,
      widgetConfigId: 'sandbox-widget',
      ...more,
    }),
    createOtp: (body: unknown) => call('POST', '/api/v1/token/otp/create', key, body),
    createTaskToken: (body: unknown) => call('POST', '/api/v1/token/task', key, body),
    otp: async (more?: Readonly<Record<string, unknown>>) => {
      const body = caller.otpRequest(more);
      const answer = await call<{ data: { otpToken: string; consentId: string } }>(
        'POST',
        '/api/v1/token/otp/create',
        key,
        body,
      );
      return answer.body.data;
    },
    taskToken: async (target: string = PERSON): Promise<string> =>
      (await caller.createTaskToken({ target, clientId })).body.data.taskToken,
    /** Creates an authorized consent of `owner`. */
    consent: async (owner: string = PERSON, products: ('movement' | 'tef' | 'debt')[] = ['movement']) =>
      (await control.createConsent({ owner, products, clientId })).consentId,
  };
  return caller;
};
