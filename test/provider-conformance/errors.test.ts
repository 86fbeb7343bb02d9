import { describe, expect } from 'vitest';
import {
  type ActionErrorCode,
  type LegacyRefusal,
  logIn,
  ProviderAmbiguous,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  startLegacyTask,
} from '#lib/provider/index.ts';
import {
  client,
  connection,
  control,
  credentialsFor,
  endOf,
  extracted,
  extractedV2,
  fails,
  legacyEndOf,
  newUser,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
  statementNeeding,
  taskOf,
  whileRestricted,
} from './server-under-test.ts';

/** Section "Errors" of the provider's API document. */

describe('Action error codes', () => {
  const codes = [
    'UNKNOWN_ERROR',
    'ACTION_ERROR',
    'REQUEST_BLOCK_ERROR',
    'TIMEOUT_ERROR',
    'ENTITY_API_ERROR',
  ] as const satisfies readonly ActionErrorCode[];
  for (const code of codes) {
    statement(`${code} is a code`, async () => {
      const actionErrors = { 'product-balance': code };
      const user = await plannedUser({ durationMs: 0, outcome: 'PARTIAL', actionErrors });
      const { results } = await endOf(taskOf(user));
      expect(results?.actions.find(({ id }) => id === 'product-balance')?.error?.code).toBe(code);
    });
  }
  statement('the catalogue grows: an unknown code is passed on unchanged', async () => {
    const error = { code: 'ENTITY_ON_HOLIDAY', message: 'Closed today.' };
    const actions = [{ id: 'tef', status: 'FAILED', output: null, error }];
    const results = { username: 'somebody', entityId: server.entity, actions };
    const user = await plannedUser({ durationMs: 0, outcome: 'FAILED', results });
    expect(await endOf(taskOf(user, [{ id: 'tef' }]))).toEqual({ taskStatus: 'FAILED', results });
  });
});

describe('HTTP', () => {
  // Not shown: Errors: values of `errorType` and `errorCode`
  statement('a v2 consent-based failure has errorType, and errorCode for subcategories', async () => {
    const failure = { status: 422, errorType: 'ENTITY', errorCode: 'UNDER_MAINTENANCE' };
    const { token, order } = await someConsent('movement', { failure, durationMs: 0 });
    await fails(extractedV2(token, order), ProviderExtractionFailed, failure);
  });

  statement('a refused v2 consent-based start has errorType and errorCode too', async () => {
    const { token, consentId } = await someConsent('movement');
    await fails(client.startExtractionV2(token, { product: 'tef', consentId }), ProviderExtractionFailed, {
      status: 403,
      errorType: expect.any(String),
    });
  });

  // Not shown: Authentication: finer permissions
  // Not shown: Errors: bodies and codes of v1 calls
  statement('error bodies of v1 calls are not shown: the status decides', async () => {
    const kinds = [
      [400, ProviderRefused],
      [403, ProviderRefused],
      [404, ProviderRefused],
      [408, ProviderAmbiguous],
      [429, ProviderBusy],
      [500, ProviderAmbiguous],
      [503, ProviderAmbiguous],
    ] as const;
    const behaviours = kinds.map(([status]) => ({ kind: 'answer', status, body: 'anything' }) as const);
    await control().setFaults([{ path: '/api/v1/auth/login', behaviours }]);
    for (const [, kind] of kinds) {
      await fails(logIn(connection, server.apiKey), kind);
    }
    await control().setFaults([]);
  });

  // Not shown: Errors: status of an invalid body
  statement('an invalid request body is assumed to be refused with 400', async () => {
    const { token } = await someConsent();
    const consentId = 'no-uuid';
    const call = client.startExtraction(token, { product: 'tef', consentId });
    await fails(call, ProviderRefused, { status: 400 });
  });
});

describe('Sandbox presets for POST /api/v1/tasks', () => {
  const refusals: Readonly<Record<LegacyRefusal, readonly [number, Parameters<typeof fails>[1]]>> = {
    jwtExpired: [401, ProviderUnauthorized],
    temporarilyRestricted: [403, ProviderRefused],
    forbidden: [403, ProviderRefused],
    processAlreadyRunning: [429, ProviderBusy],
    notEnoughCredits: [429, ProviderBusy],
  };
  for (const [refusal, [status, kind]] of Object.entries(refusals)) {
    statementNeeding(['presets'], `${refusal} is HTTP ${status} with its reason`, async () => {
      const request = { action: `${server.entity}:tef`, encryptArgs: 'YQ==-Yg==' };
      const token = await client.sessionToken();
      const call = startLegacyTask(connection, token, request, { responseType: refusal });
      await fails(call, kind, kind === ProviderRefused ? { refusal, status } : { refusal });
    });
  }
});

describe('Causes that the document shows for other routes', () => {
  // Not shown: Errors: texts of refusals on other routes than `POST /api/v1/tasks`
  statement('a v2 task is assumed to be refused in the words of v1', async () => {
    for (const [preset, kind] of [
      ['temporarilyRestricted', ProviderRefused],
      ['forbidden', ProviderRefused],
      ['processAlreadyRunning', ProviderBusy],
      ['notEnoughCredits', ProviderBusy],
    ] as const) {
      const user = await plannedUser({ start: [{ kind: 'refuse', preset }] });
      await fails(client.startTask(taskOf(user)), kind, { refusal: preset });
    }
  });

  statement('a start under a consent is assumed to be refused so for the quota', async () => {
    const startForever = { kind: 'refuse', preset: 'notEnoughCredits' } as const;
    const { token, order } = await someConsent('movement', { startForever });
    for (const start of [client.startExtraction, client.startExtractionV2]) {
      await fails(start(token, order), ProviderBusy, { refusal: 'notEnoughCredits' });
    }
  });

  // Not shown: v1 legacy task statuses: whether a poll under a consent ends so too
  statement('a poll under a consent that is answered with the code of an error has ended', async () => {
    const ends = [
      ['CREDENTIALS_WRONG', 'wrong_login', '401'],
      ['CREDENTIALS_LOCKED', 'locked', '401'],
      ['FAILED', 'error', '500'],
    ] as const;
    for (const [outcome, errorType, errorCode] of ends) {
      const { token, order } = await someConsent('movement', { durationMs: 0, outcome });
      const failure = { status: 200, errorType, errorCode };
      await fails(extracted(token, order), ProviderExtractionFailed, failure);
    }
  });
});

describe('Refusals of POST /api/v1/tasks that arise from state', () => {
  const action = `${server.entity}:tef`;
  const start = (credentials: ReturnType<typeof credentialsFor>) =>
    client.startLegacyTask({ action, credentials });

  statement('too many wrong logins restrict the username and action', async () => {
    const wrong = credentialsFor('CREDENTIALS_WRONG');
    await legacyEndOf({ action, credentials: wrong });
    await whileRestricted({ wrongLoginsPerHour: 1 }, () =>
      fails(start(wrong), ProviderRefused, { status: 403, refusal: 'temporarilyRestricted' }),
    );
  });

  statement('another request for the user is running', async () => {
    const user = await plannedUser({ durationMs: null });
    await start(user);
    await whileRestricted({ oneTaskPerUser: true }, () =>
      fails(start(user), ProviderBusy, { refusal: 'processAlreadyRunning' }),
    );
  });

  statement('the tasks of the month reach the quota', async () => {
    await start(newUser());
    await whileRestricted({ tasksPerMonth: 1 }, () =>
      fails(start(newUser()), ProviderBusy, { refusal: 'notEnoughCredits' }),
    );
  });
});

describe('Sandbox presets for GET /api/v1/tasks/{taskId}', () => {
  for (const [responseType, taskStatus, taskStatusCode] of [
    ['successWrongLoginResults', 'wrong_login', 401],
    ['successLockedResults', 'locked', 401],
    ['successErrorResults', 'error', 500],
  ] as const) {
    statementNeeding(
      ['presets'],
      `${responseType} is ${taskStatus}, ${taskStatusCode}, with empty results`,
      async () => {
        const read = await client.pollLegacyTask('any-task', { responseType });
        expect(read).toEqual({ kind: 'finished', taskStatus, taskStatusCode, results: {} });
      },
    );
  }
});

describe('Consent-based rules that cause failure', () => {
  statement('extraction needs a valid consentId', async () => {
    const { token, product } = await someConsent();
    const consentId = '00000000-0000-4000-8000-000000000000';
    await fails(client.startExtraction(token, { product, consentId }), ProviderRefused);
  });

  statement('extraction needs an active consent', async () => {
    const { token, consentId, order } = await someConsent();
    for (const subStatus of [
      'IN_PROGRESS',
      'EXPIRED',
      'REVOKED',
      'DISCARDED',
      'INVALID_PASSWORD',
      'ONE_SHOT_ALREADY_USED',
    ] as const) {
      await control().alterConsent(consentId, { subStatus });
      await fails(client.startExtraction(token, order), ProviderRefused);
    }
  });

  statement('a consent that ends between two calls is the cause of the second one’s refusal', async () => {
    for (const subStatus of ['EXPIRED', 'REVOKED'] as const) {
      const { token, consentId, order } = await someConsent();
      await control().alterConsent(consentId, { ends: { subStatus, afterCalls: 1 } });
      expect(await client.startExtraction(token, order)).toEqual(expect.any(String));
      await fails(client.startExtraction(token, order), ProviderRefused);
      expect(await client.getConsent(token, consentId)).toMatchObject({ status: 'INACTIVE', subStatus });
    }
  });

  statement('data availability varies by entity and product', async () => {
    const token = await client.createTaskToken(someTarget());
    const products = ['debt'] as const;
    const consent = { owner: token.target, products: [...products] };
    const { consentId: without } = await control().createConsent({ ...consent, entityId: 'demo-bank' });
    const { consentId: having } = await control().createConsent({ ...consent, entityId: 'demo-service' });
    const retrieve = (consentId: string) => extractedV2(token, { product: 'debt', consentId });
    expect(await retrieve(having)).toMatchObject({ data: [{ product: 'debt' }] });
    await fails(retrieve(without), ProviderExtractionFailed);
  });
});
