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
  pollLegacyTask,
  readTask,
  startLegacyTask,
} from '../../lib/provider/index.ts';
import {
  client,
  connection,
  control,
  credentialsFor,
  failureOf,
  newUser,
  type Outcome,
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
    const user = newUser();
    const actionErrors = { 'product-balance': code };
    await control().setPlan(user.username, { durationMs: 0, outcome: 'PARTIAL', actionErrors });
    const taskId = await client.startTask(taskOf(user));
    const { results } = await client.waitForTask(taskId, waiting);
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
    const user = newUser();
    const error = { code: 'ENTITY_ON_HOLIDAY', message: 'Closed today.' };
    const results = {
      username: user.username,
      entityId: server.entity,
      actions: [{ id: 'tef', status: 'FAILED', output: null, error }],
    };
    await control().setPlan(user.username, { durationMs: 0, outcome: 'FAILED', results });
    const taskId = await client.startTask(taskOf(user, [{ id: 'tef' }]));
    expect(await client.waitForTask(taskId, waiting)).toEqual({ taskStatus: 'FAILED', results });
  });
});

describe('HTTP', () => {
  statement('HTTP 401 is a Bearer token failure', [], async () => {
    expect(await failureOf(readTask(connection, 'no-such-token', 'task'))).toBeInstanceOf(
      ProviderUnauthorized,
    );
  });

  statement(
    'a v2 consent-based failure has errorType, and errorCode for subcategories',
    ['control'],
    async () => {
      const { token, target, consentId, product } = await someConsent();
      const failure = { status: 422, errorType: 'ENTITY', errorCode: 'UNDER_MAINTENANCE' };
      await control().setPlan(target, { failure, durationMs: 0 });
      const taskId = await client.startExtractionV2(token, { product, consentId });
      const error = await failureOf(client.waitForExtractionV2(token, taskId, waiting));
      expect(error).toBeInstanceOf(ProviderExtractionFailed);
      expect(error).toMatchObject(failure);
    },
  );

  statement('a refused v2 consent-based start has errorType and errorCode too', ['control'], async () => {
    const { token, consentId } = await someConsent('movement');
    const error = await failureOf(client.startExtractionV2(token, { product: 'tef', consentId }));
    expect(error).toBeInstanceOf(ProviderExtractionFailed);
    expect(error).toMatchObject({ status: 403, errorType: expect.any(String) });
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
      expect(await failureOf(logIn(connection, server.apiKey))).toBeInstanceOf(kind);
    }
    await control().setFaults([]);
  });

  statement('an invalid request body is assumed to be refused with 400', ['control'], async () => {
    const { token } = await someConsent();
    const consentId = 'no-uuid';
    const error = await failureOf(client.startExtraction(token, { product: 'tef', consentId }));
    expect(error).toBeInstanceOf(ProviderRefused);
    expect(error).toMatchObject({ status: 400 });
  });
});

describe('Sandbox presets for POST /api/v1/tasks', () => {
  const refusedWith = async (responseType: LegacyRefusal): Promise<unknown> => {
    const request = { action: `${server.entity}:tef`, encryptArgs: 'YQ==-Yg==' };
    const token = await client.sessionToken();
    return failureOf(startLegacyTask(connection, token, request, { responseType }));
  };

  statement('jwtExpired is HTTP 401 "Jwt is expired"', ['presets'], async () => {
    const error = await refusedWith('jwtExpired');
    expect(error).toBeInstanceOf(ProviderUnauthorized);
    expect(error).toMatchObject({ refusal: 'jwtExpired' });
  });

  statement('temporarilyRestricted is HTTP 403 with its reason', ['presets'], async () => {
    const error = await refusedWith('temporarilyRestricted');
    expect(error).toBeInstanceOf(ProviderRefused);
    expect(error).toMatchObject({ status: 403, refusal: 'temporarilyRestricted' });
  });

  statement('forbidden is HTTP 403 with its reason', ['presets'], async () => {
    const error = await refusedWith('forbidden');
    expect(error).toBeInstanceOf(ProviderRefused);
    expect(error).toMatchObject({ status: 403, refusal: 'forbidden' });
  });

  statement('processAlreadyRunning is HTTP 429 with its reason', ['presets'], async () => {
    const error = await refusedWith('processAlreadyRunning');
    expect(error).toBeInstanceOf(ProviderBusy);
    expect(error).toMatchObject({ refusal: 'processAlreadyRunning' });
  });

  statement('notEnoughCredits is HTTP 429 with its reason', ['presets'], async () => {
    const error = await refusedWith('notEnoughCredits');
    expect(error).toBeInstanceOf(ProviderBusy);
    expect(error).toMatchObject({ refusal: 'notEnoughCredits' });
  });
});

describe('Causes that the document shows for other routes', () => {
  statement('a v2 task is assumed to be refused in the words of v1', ['control'], async () => {
    const refusals = {
      temporarilyRestricted: ProviderRefused,
      forbidden: ProviderRefused,
      processAlreadyRunning: ProviderBusy,
      notEnoughCredits: ProviderBusy,
    } as const;
    for (const [preset, kind] of Object.entries(refusals) as [keyof typeof refusals, typeof ProviderBusy][]) {
      const user = newUser();
      await control().setPlan(user.username, { start: [{ kind: 'refuse', preset }] });
      const failure = await failureOf(client.startTask(taskOf(user)));
      expect(failure).toBeInstanceOf(kind);
      expect(failure).toMatchObject({ refusal: preset });
    }
  });

  statement('a start under a consent is assumed to be refused so for the quota', ['control'], async () => {
    const { target, token, product, consentId } = await someConsent();
    const quota = { kind: 'refuse', preset: 'notEnoughCredits' } as const;
    await control().setPlan(target, { startForever: quota });
    for (const start of [client.startExtraction, client.startExtractionV2]) {
      const failure = await failureOf(start(token, { product, consentId }));
      expect(failure).toBeInstanceOf(ProviderBusy);
      expect(failure).toMatchObject({ refusal: 'notEnoughCredits' });
    }
  });

  statement(
    'a poll under a consent that is answered with the code of an error has ended',
    ['control'],
    async () => {
      const ends = {
        CREDENTIALS_WRONG: ['wrong_login', 401],
        CREDENTIALS_LOCKED: ['locked', 401],
        FAILED: ['error', 500],
      };
      for (const [outcome, [errorType, code]] of Object.entries(ends)) {
        const { target, token, product, consentId } = await someConsent();
        await control().setPlan(target, { durationMs: 0, outcome: outcome as keyof typeof ends });
        const taskId = await client.startExtraction(token, { product, consentId });
        const failure = await failureOf(client.waitForExtraction(token, taskId, waiting));
        expect(failure).toBeInstanceOf(ProviderExtractionFailed);
        expect(failure).toMatchObject({ status: 200, errorType, errorCode: `${code}` });
      }
    },
  );
});

describe('Refusals of POST /api/v1/tasks that arise from state', () => {
  const start = (credentials: ReturnType<typeof credentialsFor>) =>
    client.startLegacyTask({ action: `${server.entity}:tef`, credentials });

  statement('too many wrong logins restrict the username and action', ['control'], async () => {
    const wrong = credentialsFor('CREDENTIALS_WRONG');
    await client.waitForLegacyTask(await start(wrong), waiting);
    const failure = await whileRestricted({ wrongLoginsPerHour: 1 }, () => failureOf(start(wrong)));
    expect(failure).toBeInstanceOf(ProviderRefused);
    expect(failure).toMatchObject({ status: 403, refusal: 'temporarilyRestricted' });
  });

  statement('another request for the user is running', ['control'], async () => {
    const user = newUser();
    await control().setPlan(user.username, { durationMs: null });
    await start(user);
    const failure = await whileRestricted({ oneTaskPerUser: true }, () => failureOf(start(user)));
    expect(failure).toBeInstanceOf(ProviderBusy);
    expect(failure).toMatchObject({ refusal: 'processAlreadyRunning' });
  });

  statement('the tasks of the month reach the quota', ['control'], async () => {
    await start(newUser());
    const failure = await whileRestricted({ tasksPerMonth: 1 }, () => failureOf(start(newUser())));
    expect(failure).toBeInstanceOf(ProviderBusy);
    expect(failure).toMatchObject({ refusal: 'notEnoughCredits' });
  });
});

describe('Sandbox presets for GET /api/v1/tasks/{taskId}', () => {
  const polled = async (responseType: string): Promise<unknown> =>
    pollLegacyTask(connection, await client.sessionToken(), 'any-task', { responseType });

  statement('successWrongLoginResults is wrong_login, 401, with empty results', ['presets'], async () => {
    expect(await polled('successWrongLoginResults')).toEqual({
      kind: 'finished',
      taskStatus: 'wrong_login',
      taskStatusCode: 401,
      results: {},
    });
  });

  statement('successLockedResults is locked, 401, with empty results', ['presets'], async () => {
    expect(await polled('successLockedResults')).toEqual({
      kind: 'finished',
      taskStatus: 'locked',
      taskStatusCode: 401,
      results: {},
    });
  });

  statement('successErrorResults is error, 500, with empty results', ['presets'], async () => {
    expect(await polled('successErrorResults')).toEqual({
      kind: 'finished',
      taskStatus: 'error',
      taskStatusCode: 500,
      results: {},
    });
  });
});

describe('Consent-based rules that cause failure', () => {
  statement('extraction needs a valid consentId', ['control'], async () => {
    const { token, product } = await someConsent();
    const consentId = '00000000-0000-4000-8000-000000000000';
    expect(await failureOf(client.startExtraction(token, { product, consentId }))).toBeInstanceOf(
      ProviderRefused,
    );
  });

  statement('extraction needs an active consent', ['control'], async () => {
    const { token, product, consentId } = await someConsent();
    for (const subStatus of [
      'IN_PROGRESS',
      'EXPIRED',
      'REVOKED',
      'DISCARDED',
      'INVALID_PASSWORD',
      'ONE_SHOT_ALREADY_USED',
    ] as const) {
      await control().alterConsent(consentId, { subStatus });
      expect(await failureOf(client.startExtraction(token, { product, consentId }))).toBeInstanceOf(
        ProviderRefused,
      );
    }
  });

  statement(
    'a consent that ends between two calls is the cause of the second one’s refusal',
    ['control'],
    async () => {
      for (const subStatus of ['EXPIRED', 'REVOKED'] as const) {
        const { token, product, consentId } = await someConsent();
        await control().alterConsent(consentId, { ends: { subStatus, afterCalls: 1 } });
        expect(await client.startExtraction(token, { product, consentId })).toEqual(expect.any(String));
        const failure = await failureOf(client.startExtraction(token, { product, consentId }));
        expect(failure).toBeInstanceOf(ProviderRefused);
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
    const retrieve = async (consentId: string) =>
      client.waitForExtractionV2(
        token,
        await client.startExtractionV2(token, { product: 'debt', consentId }),
        waiting,
      );
    expect(await retrieve(having)).toMatchObject({ data: [{ product: 'debt' }] });
    expect(await failureOf(retrieve(without))).toBeInstanceOf(ProviderExtractionFailed);
  });

  statement('extraction needs a product that the user authorized', ['control'], async () => {
    const { token, consentId } = await someConsent('movement');
    expect(await failureOf(client.startExtraction(token, { product: 'tef', consentId }))).toBeInstanceOf(
      ProviderRefused,
    );
  });
});
