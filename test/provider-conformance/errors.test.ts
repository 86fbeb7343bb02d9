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
  readTask,
  startLegacyTask,
} from '../../lib/provider/index.ts';
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
  type Outcome,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
  taskFor,
  taskOf,
  waiting,
  whileRestricted,
} from './server-under-test.ts';

/** Section "Errors" of the provider's API document. */

describe('v2 task-level outcomes', () => {
  statement(
    'FAILED, CREDENTIALS_WRONG and CREDENTIALS_LOCKED are in the body of a successful read',
    ['control'],
    async () => {
      const outcomes: readonly Outcome[] = ['FAILED', 'CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'];
      for (const outcome of outcomes) {
        const taskId = await client.startTask(taskFor(outcome));
        expect(await client.waitForTask(taskId, waiting)).toMatchObject({ taskStatus: outcome });
        expect((await control().calls({ taskId, method: 'GET' })).at(-1)).toMatchObject({ status: 200 });
      }
    },
  );
});

describe('Action error codes', () => {
  const codeOf = async (code: ActionErrorCode): Promise<unknown> => {
    const actionErrors = { 'product-balance': code };
    const user = await plannedUser({ durationMs: 0, outcome: 'PARTIAL', actionErrors });
    const { results } = await endOf(taskOf(user));
    return results?.actions.find(({ id }) => id === 'product-balance')?.error?.code;
  };

  statement('UNKNOWN_ERROR is a code', ['control'], async () => {
    expect(await codeOf('UNKNOWN_ERROR')).toBe('UNKNOWN_ERROR');
  });
  statement('ACTION_ERROR is a code', ['control'], async () => {
    expect(await codeOf('ACTION_ERROR')).toBe('ACTION_ERROR');
  });
  statement('REQUEST_BLOCK_ERROR is a code', ['control'], async () => {
    expect(await codeOf('REQUEST_BLOCK_ERROR')).toBe('REQUEST_BLOCK_ERROR');
  });
  statement('TIMEOUT_ERROR is a code', ['control'], async () => {
    expect(await codeOf('TIMEOUT_ERROR')).toBe('TIMEOUT_ERROR');
  });
  statement('ENTITY_API_ERROR is a code', ['control'], async () => {
    expect(await codeOf('ENTITY_API_ERROR')).toBe('ENTITY_API_ERROR');
  });

  statement('the catalogue grows: an unknown code is passed on unchanged', ['control'], async () => {
    const error = { code: 'ENTITY_ON_HOLIDAY', message: 'Closed today.' };
    const actions = [{ id: 'tef', status: 'FAILED', output: null, error }];
    const results = { username: 'somebody', entityId: server.entity, actions };
    const user = await plannedUser({ durationMs: 0, outcome: 'FAILED', results });
    expect(await endOf(taskOf(user, [{ id: 'tef' }]))).toEqual({ taskStatus: 'FAILED', results });
  });
});

describe('HTTP', () => {
  statement('HTTP 401 is a Bearer token failure', [], async () => {
    await fails(readTask(connection, 'no-such-token', 'task'), ProviderUnauthorized);
  });

  statement(
    'a v2 consent-based failure has errorType, and errorCode for subcategories',
    ['control'],
    async () => {
      const failure = { status: 422, errorType: 'ENTITY', errorCode: 'UNDER_MAINTENANCE' };
      const { token, order } = await someConsent('movement', { failure, durationMs: 0 });
      await fails(extractedV2(token, order), ProviderExtractionFailed, failure);
    },
  );

  statement('a refused v2 consent-based start has errorType and errorCode too', ['control'], async () => {
    const { token, consentId } = await someConsent('movement');
    await fails(client.startExtractionV2(token, { product: 'tef', consentId }), ProviderExtractionFailed, {
      status: 403,
      errorType: expect.any(String),
    });
  });

  statement('error bodies of v1 calls are not shown: the status decides', ['control'], async () => {
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

  statement('an invalid request body is assumed to be refused with 400', ['control'], async () => {
    const { token } = await someConsent();
    const consentId = 'no-uuid';
    const call = client.startExtraction(token, { product: 'tef', consentId });
    await fails(call, ProviderRefused, { status: 400 });
  });
});

describe('Sandbox presets for POST /api/v1/tasks', () => {
  const isRefused = async (
    refusal: LegacyRefusal,
    kind: Parameters<typeof fails>[1],
    fields = {},
  ): Promise<void> => {
    const request = { action: `${server.entity}:tef`, encryptArgs: 'YQ==-Yg==' };
    const token = await client.sessionToken();
    const call = startLegacyTask(connection, token, request, { responseType: refusal });
    await fails(call, kind, { refusal, ...fields });
  };

  statement('jwtExpired is HTTP 401 "Jwt is expired"', ['presets'], async () => {
    await isRefused('jwtExpired', ProviderUnauthorized);
  });

  statement('temporarilyRestricted is HTTP 403 with its reason', ['presets'], async () => {
    await isRefused('temporarilyRestricted', ProviderRefused, { status: 403 });
  });

  statement('forbidden is HTTP 403 with its reason', ['presets'], async () => {
    await isRefused('forbidden', ProviderRefused, { status: 403 });
  });

  statement('processAlreadyRunning is HTTP 429 with its reason', ['presets'], async () => {
    await isRefused('processAlreadyRunning', ProviderBusy);
  });

  statement('notEnoughCredits is HTTP 429 with its reason', ['presets'], async () => {
    await isRefused('notEnoughCredits', ProviderBusy);
  });
});

describe('Causes that the document shows for other routes', () => {
  statement('a v2 task is assumed to be refused in the words of v1', ['control'], async () => {
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

  statement('a start under a consent is assumed to be refused so for the quota', ['control'], async () => {
    const startForever = { kind: 'refuse', preset: 'notEnoughCredits' } as const;
    const { token, order } = await someConsent('movement', { startForever });
    for (const start of [client.startExtraction, client.startExtractionV2]) {
      await fails(start(token, order), ProviderBusy, { refusal: 'notEnoughCredits' });
    }
  });

  statement(
    'a poll under a consent that is answered with the code of an error has ended',
    ['control'],
    async () => {
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
    },
  );
});

describe('Refusals of POST /api/v1/tasks that arise from state', () => {
  const action = `${server.entity}:tef`;
  const start = (credentials: ReturnType<typeof credentialsFor>) =>
    client.startLegacyTask({ action, credentials });

  statement('too many wrong logins restrict the username and action', ['control'], async () => {
    const wrong = credentialsFor('CREDENTIALS_WRONG');
    await legacyEndOf({ action, credentials: wrong });
    await whileRestricted({ wrongLoginsPerHour: 1 }, () =>
      fails(start(wrong), ProviderRefused, { status: 403, refusal: 'temporarilyRestricted' }),
    );
  });

  statement('another request for the user is running', ['control'], async () => {
    const user = await plannedUser({ durationMs: null });
    await start(user);
    await whileRestricted({ oneTaskPerUser: true }, () =>
      fails(start(user), ProviderBusy, { refusal: 'processAlreadyRunning' }),
    );
  });

  statement('the tasks of the month reach the quota', ['control'], async () => {
    await start(newUser());
    await whileRestricted({ tasksPerMonth: 1 }, () =>
      fails(start(newUser()), ProviderBusy, { refusal: 'notEnoughCredits' }),
    );
  });
});

describe('Sandbox presets for GET /api/v1/tasks/{taskId}', () => {
  const isRead = async (responseType: string, taskStatus: string, taskStatusCode: number): Promise<void> => {
    const read = await client.pollLegacyTask('any-task', { responseType });
    expect(read).toEqual({ kind: 'finished', taskStatus, taskStatusCode, results: {} });
  };

  statement('successWrongLoginResults is wrong_login, 401, with empty results', ['presets'], async () => {
    await isRead('successWrongLoginResults', 'wrong_login', 401);
  });

  statement('successLockedResults is locked, 401, with empty results', ['presets'], async () => {
    await isRead('successLockedResults', 'locked', 401);
  });

  statement('successErrorResults is error, 500, with empty results', ['presets'], async () => {
    await isRead('successErrorResults', 'error', 500);
  });
});

describe('Consent-based rules that cause failure', () => {
  statement('extraction needs a valid consentId', ['control'], async () => {
    const { token, product } = await someConsent();
    const consentId = '00000000-0000-4000-8000-000000000000';
    await fails(client.startExtraction(token, { product, consentId }), ProviderRefused);
  });

  statement('extraction needs an active consent', ['control'], async () => {
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

  statement(
    'a consent that ends between two calls is the cause of the second one’s refusal',
    ['control'],
    async () => {
      for (const subStatus of ['EXPIRED', 'REVOKED'] as const) {
        const { token, consentId, order } = await someConsent();
        await control().alterConsent(consentId, { ends: { subStatus, afterCalls: 1 } });
        expect(await client.startExtraction(token, order)).toEqual(expect.any(String));
        await fails(client.startExtraction(token, order), ProviderRefused);
        expect(await client.getConsent(token, consentId)).toMatchObject({ status: 'INACTIVE', subStatus });
      }
    },
  );

  statement('data availability varies by entity and product', ['control'], async () => {
    const token = await client.createTaskToken(someTarget());
    const products = ['debt'] as const;
    const consent = { owner: token.target, products: [...products] };
    const { consentId: without } = await control().createConsent({ ...consent, entityId: 'demo-bank' });
    const { consentId: having } = await control().createConsent({ ...consent, entityId: 'demo-service' });
    const retrieve = (consentId: string) => extractedV2(token, { product: 'debt', consentId });
    expect(await retrieve(having)).toMatchObject({ data: [{ product: 'debt' }] });
    await fails(retrieve(without), ProviderExtractionFailed);
  });

  statement('extraction needs a product that the user authorized', ['control'], async () => {
    const { token, consentId } = await someConsent('movement');
    await fails(client.startExtraction(token, { product: 'tef', consentId }), ProviderRefused);
  });
});
