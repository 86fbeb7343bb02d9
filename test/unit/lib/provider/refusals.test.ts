import { describe, expect, test } from 'vitest';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  pollExtractionV2,
  startExtractionV2,
  startLegacyTask,
} from '../../../../lib/provider/index.ts';
import { answering } from '../../../support/canned-connection.ts';
import { errorText } from '../../../support/error-text.ts';

const secret = 'sentinel-of-a-secret';
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a refusal of the v2 consent-based variant', () => {
  const calls = (status: number, body: string) => {
    const { connection } = answering(() => ({ status, body }));
    return [
      failureOf(startExtractionV2(connection, secret, { product: 'tef', consentId: 'c' })),
      failureOf(pollExtractionV2(connection, secret, 't')),
    ];
  };

  test.each([400, 403, 404, 409, 422, 429, 500, 503])('%i is told with its type and code', async (status) => {
    const body = JSON.stringify({ errorType: 'CONSENT', errorCode: 'EXPIRED', message: secret });
    for (const failure of await Promise.all(calls(status, body))) {
      expect(failure).toBeInstanceOf(ProviderExtractionFailed);
      expect(failure).toMatchObject({ status, errorType: 'CONSENT', errorCode: 'EXPIRED' });
      expect((failure as Error).message).toContain(`${status}`);
      expect(errorText(failure)).not.toContain(secret);
    }
  });

  test('may have no code', async () => {
    for (const failure of await Promise.all(calls(409, '{"errorType":"CONSENT"}'))) {
      expect(failure).toBeInstanceOf(ProviderExtractionFailed);
      expect(Object.hasOwn(failure as object, 'errorCode')).toBe(false);
    }
  });

  test('of the Bearer token is ProviderUnauthorized, whatever the body says', async () => {
    for (const failure of await Promise.all(calls(401, '{"errorType":"TOKEN"}'))) {
      expect(failure).toBeInstanceOf(ProviderUnauthorized);
    }
  });

  test.each([
    [409, '', ProviderRefused],
    [409, `<html>${secret}`, ProviderRefused],
    [409, '{"errorType":7}', ProviderRefused],
    [409, `{"message":"${secret}"}`, ProviderRefused],
    [429, 'null', ProviderBusy],
    [500, '[]', ProviderAmbiguous],
    [302, '{"errorType":"MOVED"}', ProviderAmbiguous],
  ])('%i with %j is told by its status', async (status, body, kind) => {
    for (const failure of await Promise.all(calls(status, body))) {
      expect(failure).toBeInstanceOf(kind);
      expect(errorText(failure)).not.toContain(secret);
    }
  });

  test('whose body is too long to be one is told by its status', async () => {
    const body = JSON.stringify({ errorType: 'x'.repeat(70_000) });
    for (const failure of await Promise.all(calls(409, body)))
      expect(failure).toBeInstanceOf(ProviderRefused);
  });
});

describe('a refusal of a legacy start', () => {
  const refused = (status: number, body: string) => {
    const { connection } = answering(() => ({ status, body }));
    return failureOf(startLegacyTask(connection, secret, { action: 'e:tef', encryptArgs: 'YQ==-Yg==' }));
  };
  const texts = [
    [401, 'Jwt is expired', ProviderUnauthorized, 'jwtExpired'],
    [
      403,
      'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
      ProviderRefused,
      'temporarilyRestricted',
    ],
    [403, "You don't have sufficient permissions to perform this action", ProviderRefused, 'forbidden'],
    [429, 'Another request for this user is currently running', ProviderBusy, 'processAlreadyRunning'],
    [429, 'Request monthly quota reached (applies only to free plans)', ProviderBusy, 'notEnoughCredits'],
    [429, 'Request monthly quota reached', ProviderBusy, 'notEnoughCredits'],
  ] as const;

  test.each(texts)(
    '%i %s is told by the name that the document has for it',
    async (status, text, kind, refusal) => {
      for (const body of [text, JSON.stringify({ message: text, for: secret })]) {
        const failure = await refused(status, body);
        expect(failure).toBeInstanceOf(kind);
        expect(failure).toMatchObject({ refusal });
        expect(errorText(failure)).not.toContain(secret);
        expect(errorText(failure)).not.toContain(text);
      }
    },
  );

  test.each([
    [403, 'Jwt is expired'],
    [429, ''],
    [403, secret],
    [500, 'Request monthly quota reached'],
  ])('%i %j has no name', async (status, body) => {
    expect(Object.hasOwn((await refused(status, body)) as object, 'refusal')).toBe(false);
  });
});
