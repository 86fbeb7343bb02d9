import { describe, expect } from 'vitest';
import { consentIdPattern } from '#lib/provider/assumptions.ts';
import {
  InvalidProviderRequest,
  isMovementItem,
  isNationalId,
  isTefRecipient,
  logIn,
  ProviderExtractionFailed,
  ProviderRefused,
  startLegacyTask,
  type TefRecipient,
} from '#lib/provider/index.ts';
import {
  client,
  clientWith,
  connection,
  control,
  credentialsFor,
  endOf,
  extracted,
  extractedV2,
  fails,
  failureOf,
  lastCall,
  legacyEndOf,
  newUser,
  type Outcome,
  otpRequest,
  plannedUser,
  server,
  someConsent,
  someTarget,
  statement,
  statementNeeding,
  taskFor,
  taskOf,
} from './server-under-test.ts';

/** Section "Endpoints" of the provider's API document. */

describe('Session token', () => {
  statement('POST /api/v1/auth/login answers with a token', async () => {
    expect(await logIn(connection, server.apiKey)).not.toBe('');
    expect(await lastCall('/api/v1/auth/login')).toMatchObject({ method: 'POST', status: 200 });
  });

  statementNeeding([], 'expire is an optional number of minutes', async () => {
    expect(await logIn(connection, server.apiKey, 5)).not.toBe('');
    await fails(logIn(connection, server.apiKey, 0), InvalidProviderRequest);
  });

  statement('one session serves v1 and v2', async () => {
    const own = clientWith();
    await own.listEntities();
    const { bearer } = (await lastCall('/api/v1/entities')) ?? {};
    await own.startTask(taskOf(newUser()));
    expect(await lastCall('/api/v2/tasks')).toMatchObject({ bearer });
  });
});

describe('Create OTP token', () => {
  statement('POST /api/v1/token/otp/create answers with otpToken and consentId', async () => {
    const { otpToken, consentId } = await client.createOtpToken(otpRequest());
    expect(otpToken.split('.')).toHaveLength(3);
    expect(await control().consent(consentId)).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await lastCall('/api/v1/token/otp/create')).toMatchObject({ method: 'POST', status: 200 });
  });

  statementNeeding(['widget'], 'products are documented products', async () => {
    const products = ['no-such-product'] as unknown as ['tef'];
    await fails(client.createOtpToken({ ...otpRequest(), products }), InvalidProviderRequest);
  });

  // Not shown: Create OTP token: country of the national id
  statement('username may include or omit dots and hyphen, and must include the check digit', async () => {
    for (const username of ['11.111.111-1', '11111111-1', '111111111']) {
      const { consentId } = await client.createOtpToken({ ...otpRequest(), user: { username } });
      expect(await control().consent(consentId)).toMatchObject({ owner: '11111111-1' });
    }
    for (const username of ['11.111.111', '11111111-2']) {
      await fails(client.createOtpToken({ ...otpRequest(), user: { username } }), InvalidProviderRequest);
    }
  });

  statementNeeding(['widget'], 'email, locale and filters are optional', async () => {
    const user = { username: someTarget(), email: 'someone@example.com' };
    await client.createOtpToken({ ...otpRequest(), user, locale: 'es-CL' });
    const filtered = (types: readonly string[]) =>
      client.createOtpToken({ ...otpRequest(), filters: { entities: { include: { types } } } } as never);
    await filtered(['bank', 'business-bank', 'government', 'service', 'afp', 'exchange']);
    await fails(filtered(['no-such-type']), InvalidProviderRequest);
  });

  statement(
    'the user authorizes it in the widget, and one product is extracted with a Task Token',
    async () => {
      const request = otpRequest();
      const { otpToken, consentId } = await client.createOtpToken(request);
      const page = await fetch(`${server.baseUrl}/widget?otpToken=${encodeURIComponent(otpToken)}`);
      const key = /name="key" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      const body = new URLSearchParams({ key, decision: 'authorize', product: 'tef', entity: 'demo-bank' });
      expect((await fetch(`${server.baseUrl}/widget`, { method: 'POST', body })).status).toBe(200);
      const token = await client.createTaskToken(request.user.username);
      expect((await extracted(token, { product: 'tef', consentId })).results.length).toBeGreaterThan(0);
    },
  );

  statement('company is required in the legal-person flow', async () => {
    const company = { id: '77.777.777-7' };
    const { consentId } = await client.createLegalPersonOtpToken({ ...otpRequest(), company });
    expect(await control().consent(consentId)).toMatchObject({ owner: '77777777-7' });
    const without = otpRequest() as unknown as Parameters<typeof client.createLegalPersonOtpToken>[0];
    await fails(client.createLegalPersonOtpToken(without), InvalidProviderRequest);
  });

  statement('clientId is required: the client sends its own', async () => {
    await client.createOtpToken(otpRequest());
    expect(await lastCall('/api/v1/token/otp/create')).toMatchObject({ clientId: server.clientId });
    const other = clientWith({ clientId: '00000000-0000-4000-8000-00000000bbbb' });
    await fails(other.createOtpToken(otpRequest()), ProviderRefused);
    await fails(other.createTaskToken(someTarget()), ProviderRefused);
  });

  statement('widgetConfigId is required and case-sensitive', async () => {
    const widgetConfigId = server.widgetConfigId.toUpperCase();
    await fails(client.createOtpToken({ ...otpRequest(), widgetConfigId }), ProviderRefused);
  });
});

describe('Create Task Token', () => {
  statement('POST /api/v1/token/task answers with a taskToken', async () => {
    const target = someTarget();
    const token = await client.createTaskToken(target);
    expect(token.target).toBe(target);
    expect(token.taskToken.split('.')).toHaveLength(3);
    expect(await lastCall('/api/v1/token/task')).toMatchObject({ method: 'POST', status: 200 });
  });

  statement("target is the user's national id, or the company's", async () => {
    await control().createConsent({ owner: '77777777-7', products: ['tef'] });
    const token = await client.createTaskToken('77.777.777-7');
    expect((await client.listConsents(token)).count).toBeGreaterThan(0);
    await fails(client.createTaskToken('nobody'), InvalidProviderRequest);
  });
});

describe('List consents', () => {
  const withConsents = async (count: number) => {
    const { token, target, consentId } = await someConsent();
    const ids = [consentId];
    while (ids.length < count) {
      ids.push((await control().createConsent({ owner: target, products: ['tef'] })).consentId);
    }
    return { token, ids };
  };

  statementNeeding(['target'], 'GET /api/v1/consents answers with consents, hasNext and count', async () => {
    const token = await client.createTaskToken(someTarget());
    expect(await client.listConsents(token)).toMatchObject({
      consents: expect.any(Array),
      hasNext: expect.any(Boolean),
      count: expect.any(Number),
    });
  });

  statement(
    'page and limit choose the page, hasNext is true if more exist, and count is that of all pages',
    async () => {
      const { token, ids } = await withConsents(5);
      const first = await client.listConsents(token, { limit: 2 });
      const last = await client.listConsents(token, { page: 3, limit: 2 });
      expect(first.consents.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(first).toMatchObject({ hasNext: true, count: 5 });
      expect(last.consents.map(({ id }) => id)).toEqual(ids.slice(4));
      expect(last.hasNext).toBe(false);
    },
  );

  statement('a page has 10 consents by default, and all pages can be read in turn', async () => {
    const { token, ids } = await withConsents(12);
    const first = await client.listConsents(token);
    expect(first.consents.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    const found: string[] = [];
    for await (const { id } of client.iterateConsents(token)) found.push(id);
    expect(found).toEqual(ids);
  });

  // Not shown: List consents: filter parameters
  statementNeeding(['target'], 'filter parameters are not shown: any may be passed', async () => {
    const token = await client.createTaskToken(someTarget());
    await client.listConsents(token, { filters: { status: 'ACTIVE' } });
  });

  statement('only consents of the user bound to the Task Token are listed', async () => {
    const { ids: mine, token } = await withConsents(1);
    await withConsents(1);
    expect((await client.listConsents(token)).consents.map(({ id }) => id)).toEqual(mine);
  });
});

describe('Get consent', () => {
  // Not shown: Consent: form of its id: "uuid-like"
  statementNeeding(
    [],
    'the id of a consent is uuid-like: what one call returns, every other accepts',
    async () => {
      // The same pattern is required of a session's answer, in a path and in a request for an extraction.
      expect((await client.createOtpToken(otpRequest())).consentId).toMatch(consentIdPattern);
    },
  );
});

describe('Consent PDF', () => {
  // Not shown: Consent PDF: fields of the answer
  statement('a temporary URL is answered, from which the PDF can be downloaded', async () => {
    const { token, consentId } = await someConsent();
    const { url } = await client.getConsentPdf(token, consentId);
    const pdf = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  });

  // Not shown: Consent PDF: method and path
  statement('its method and path are assumed, and a setting', async () => {
    const { token, consentId } = await someConsent();
    await client.getConsentPdf(token, consentId);
    expect(await lastCall(`/api/v1/consents/${consentId}/pdf`)).toMatchObject({ method: 'GET', status: 200 });
    const consentPdf = { method: 'GET', path: '/elsewhere/{consentId}' } as const;
    const elsewhere = clientWith({ endpoints: { consentPdf } });
    await failureOf(elsewhere.getConsentPdf(token, consentId));
    expect(await lastCall(`/elsewhere/${consentId}`)).toMatchObject({ method: 'GET' });
  });
});

describe('Revoke consent', () => {
  // Not shown: Revoke consent: method and path
  statement('its method and path are assumed, and a setting; consentId is in the body', async () => {
    const { token, consentId } = await someConsent();
    const revoked = { status: 'INACTIVE', subStatus: 'REVOKED' };
    expect(await client.revokeConsent(token, consentId)).toEqual({ consentId, ...revoked });
    expect(await client.getConsent(token, consentId)).toMatchObject(revoked);
    expect(await lastCall('/api/v1/consents/revoke')).toMatchObject({ method: 'POST', consentId });
    const elsewhere = clientWith({ endpoints: { revokeConsent: { method: 'PUT', path: '/elsewhere' } } });
    await failureOf(elsewhere.revokeConsent(token, consentId));
    expect(await lastCall('/elsewhere')).toMatchObject({ method: 'PUT' });
  });
});

describe('Start extraction (v1, asynchronous)', () => {
  statement('POST /api/v1/products/retrieve-data/tasks answers with a taskId', async () => {
    const { token, consentId, order } = await someConsent();
    const taskId = await client.startExtraction(token, order);
    expect(await lastCall('/api/v1/products/retrieve-data/tasks')).toMatchObject({
      method: 'POST',
      status: 200,
      taskId,
      consentId,
    });
  });

  statementNeeding(['consent'], 'product and consentId are required', async () => {
    const { token, order, consentId, product } = await someConsent();
    for (const request of [{ product }, { consentId }]) {
      await fails(client.startExtraction(token, request as typeof order), InvalidProviderRequest);
    }
  });

  statement('one product per request: several need separate requests', async () => {
    const token = await client.createTaskToken(someTarget());
    const products: ['tef', 'movement'] = ['tef', 'movement'];
    const { consentId } = await control().createConsent({ owner: token.target, products });
    const both = { product: products as unknown as 'tef', consentId };
    await fails(client.startExtraction(token, both), InvalidProviderRequest);
    const first = await client.startExtraction(token, { product: 'tef', consentId });
    expect(await client.startExtraction(token, { product: 'movement', consentId })).not.toBe(first);
  });
});

describe('Poll extraction (v1)', () => {
  statement(
    'GET …/tasks/{taskId} is 202 with code 202 in progress and 200 with code 200 when finished',
    async () => {
      const { token, order } = await someConsent('movement', { durationMs: null });
      const taskId = await client.startExtraction(token, order);
      const path = `/api/v1/products/retrieve-data/tasks/${taskId}`;
      expect(await client.pollExtraction(token, taskId)).toMatchObject({ taskStatusCode: 202 });
      expect(await lastCall(path)).toMatchObject({ method: 'GET', status: 202 });
      await control().finishPolled(taskId);
      expect(await client.pollExtraction(token, taskId)).toMatchObject({ taskStatusCode: 200 });
      expect(await lastCall(path)).toMatchObject({ method: 'GET', status: 200 });
    },
  );
});

describe('Retrieve data, synchronous', () => {
  // Not shown: Versioning: deprecation schedule, negotiation
  statementNeeding(
    ['consent'],
    'the synchronous call is deprecated, and its asynchronous successor gives the same data',
    async () => {
      const { token, order } = await someConsent();
      const answer = await client.retrieveData(token, order);
      expect(answer).toMatchObject({ taskStatus: 'success', taskStatusCode: 200, data: expect.any(Array) });
      expect((await extracted(token, order)).results).toEqual(answer.data);
    },
  );
});

describe('v2 consent-based extraction', () => {
  // Not shown: v2 consent-based extraction: body of the start
  statementNeeding(['consent'], 'start is HTTP 200 with data.taskId', async () => {
    const { token, order } = await someConsent();
    expect(await client.startExtractionV2(token, order)).not.toBe('');
  });

  statement('poll is 202 in progress and 200 with data when finished', async () => {
    const { token, order } = await someConsent('movement', { durationMs: null });
    const taskId = await client.startExtractionV2(token, order);
    expect(await client.pollExtractionV2(token, taskId)).toEqual({ kind: 'in-progress' });
    await control().finishPolled(taskId);
    expect(await client.pollExtractionV2(token, taskId)).toEqual({
      kind: 'finished',
      data: expect.any(Array),
    });
  });

  // Not shown: v2 consent-based extraction: which error answers end an extraction, and which concern one poll only
  statement('every other outcome is HTTP 4xx or 5xx', async () => {
    const { token, order } = await someConsent('movement', {
      failure: { status: 422, errorType: 'ENTITY' },
      durationMs: 0,
    });
    await fails(extractedV2(token, order), ProviderExtractionFailed);
  });

  // Not shown: v2 consent-based extraction: paths
  statement('its paths are assumed, and a setting', async () => {
    const { token, order } = await someConsent();
    const taskId = await client.startExtractionV2(token, order);
    expect(await lastCall('/api/v2/products/retrieve-data/tasks')).toMatchObject({ method: 'POST', taskId });
    await client.pollExtractionV2(token, taskId);
    expect(await lastCall(`/api/v2/products/retrieve-data/tasks/${taskId}`)).toMatchObject({ method: 'GET' });
    const elsewhere = clientWith({
      endpoints: {
        startExtractionV2: { method: 'POST', path: '/start' },
        pollExtractionV2: { method: 'GET', path: '/poll/{taskId}' },
      },
    });
    await failureOf(elsewhere.startExtractionV2(token, order));
    await failureOf(elsewhere.pollExtractionV2(token, taskId));
    expect(await lastCall('/start')).toMatchObject({ method: 'POST' });
    expect(await lastCall(`/poll/${taskId}`)).toMatchObject({ method: 'GET' });
  });
});

describe('Start task (v2)', () => {
  statementNeeding(['credentials'], 'POST /api/v2/tasks answers with a taskId', async () => {
    expect(await client.startTask(taskFor('COMPLETED'))).toMatch(/^.{1,100}$/);
  });
});

describe('Legacy v1 task API', () => {
  const user = { username: 'completed', password: 'p' };

  statement('POST /api/v1/tasks takes action and encryptArgs, and answers with a taskId', async () => {
    const taskId = await client.startLegacyTask({ action: 'demo-bank:tef', credentials: user });
    expect(await lastCall('/api/v1/tasks')).toMatchObject({
      method: 'POST',
      status: 200,
      taskId,
      username: 'completed',
      credentialsMode: 'encrypted',
    });
  });

  statementNeeding([], 'action is <entity_id>:<action_type>', async () => {
    const request = { action: 'tef', encryptArgs: 'YQ==-Yg==' };
    await fails(startLegacyTask(connection, 'token', request), InvalidProviderRequest);
  });

  // Not shown: Legacy v1 task API: effect of the boolean `webhook`
  statement('it may be sent a boolean webhook', async () => {
    await client.startLegacyTask({ action: 'demo-bank:tef', credentials: user, webhook: true });
  });

  statement('GET /api/v1/tasks/{taskId} answers with username, entityId and data', async () => {
    const { results } = await legacyEndOf({ action: 'demo-bank:tef', credentials: user });
    expect(results).toMatchObject({ username: 'completed', entityId: 'demo-bank' });
    expect(results?.data?.every(isTefRecipient)).toBe(true);
    const movements = await legacyEndOf({ action: 'demo-bank:movement', credentials: user });
    expect(movements.results?.data?.every(isMovementItem)).toBe(true);
  });

  // Not shown: States: transitions of a legacy task
  statement('a legacy task in progress is assumed to be answered as one of v1', async () => {
    const credentials = await plannedUser({ durationMs: null });
    const taskId = await client.startLegacyTask({ action: 'demo-bank:tef', credentials });
    expect(await client.pollLegacyTask(taskId)).toMatchObject({ kind: 'in-progress', taskStatusCode: 202 });
  });

  statementNeeding(['presets'], 'GET /api/v1/entities answers with entities', async () => {
    expect((await client.listEntities()).length).toBeGreaterThan(0);
  });

  // Not shown: Legacy v1 task API: body of the user status
  statement(
    'POST /api/v1/users/status/by-entity answers with a user status; its body is assumed',
    async () => {
      const status = await client.getUserStatus({ entityId: 'demo-bank', username: 'completed' });
      expect(status).toMatchObject({ enabled: true });
      const locked = await client.getUserStatus({ entityId: 'demo-bank', username: 'credentials-locked' });
      expect(locked).toMatchObject({ enabled: false, retryAfter: expect.any(String) });
    },
  );
});

describe('Sandbox behaviours', () => {
  const preset = async (responseType: string) => {
    const reading = await client.pollLegacyTask('any-task', { responseType });
    expect(reading).toMatchObject({ kind: 'finished', taskStatus: 'success', taskStatusCode: 200 });
    return { ...reading.results, data: reading.results?.data ?? [] };
  };
  const recipients = async (responseType: string): Promise<readonly TefRecipient[]> => {
    const { data } = await preset(responseType);
    expect(data.length).toBeGreaterThan(0);
    return data.map((item) => {
      if (!isTefRecipient(item)) throw new Error('Not of the documented shape.');
      return item;
    });
  };

  statementNeeding(['presets'], 'responseType forces a preset on the four legacy routes', async () => {
    const token = await client.sessionToken();
    const start = { action: `${server.entity}:tef`, encryptArgs: 'YQ==-Yg==' };
    await fails(startLegacyTask(connection, token, start, { responseType: 'forbidden' }), ProviderRefused);
    const read = await client.pollLegacyTask('any-task', { responseType: 'successErrorResults' });
    expect(read).toMatchObject({ taskStatus: 'error' });
    expect(await client.listEntities({ responseType: 'disabledSantander' })).not.toEqual([]);
    const user = { entityId: 'e', username: 'u' };
    const status = await client.getUserStatus(user, { responseType: 'disabledUsername' });
    expect(status.enabled).toBe(false);
    expect(Date.parse(status.retryAfter ?? '')).not.toBeNaN();
  });

  statementNeeding(
    ['presets'],
    'successEmptyResults has an empty data array, beside username and entityId',
    async () => {
      const named = { username: expect.any(String), entityId: expect.any(String) };
      expect(await preset('successEmptyResults')).toMatchObject({ ...named, data: [] });
    },
  );

  const differences: Readonly<Record<string, (of: TefRecipient) => boolean>> = {
    successEmptyAlias: ({ alias }) => alias === '',
    tefWithValidRutWrongFormat: ({ rut }) => /^\d+[\dkK]$/.test(rut) && isNationalId(rut),
    tefWithInvalidRut: ({ rut }) => rut !== '' && !isNationalId(rut),
  };
  for (const [responseType, differs] of Object.entries(differences)) {
    statementNeeding(['presets'], `each recipient of ${responseType} differs as its name says`, async () => {
      for (const recipient of await recipients(responseType)) expect(recipient).toSatisfy(differs);
    });
  }

  statementNeeding(['presets'], 'tefWithEmptyRut has an item with an empty rut', async () => {
    expect((await recipients('tefWithEmptyRut')).map(({ rut }) => rut)).toContain('');
  });

  statementNeeding(['presets'], 'disabledSantander lists one entity as not enabled', async () => {
    const entities = await client.listEntities({ responseType: 'disabledSantander' });
    expect(entities.filter(({ enabled }) => !enabled)).toHaveLength(1);
  });

  statementNeeding(
    ['presets'],
    'disabledSantanderTef lists it as enabled, and its tef action as not enabled',
    async () => {
      const entities = await client.listEntities({ responseType: 'disabledSantanderTef' });
      const disabled = entities.flatMap(({ enabled, actions }) =>
        actions.filter((action) => !action.enabled).map(({ actionType }) => ({ enabled, actionType })),
      );
      expect(disabled).toEqual([{ enabled: true, actionType: 'tef' }]);
    },
  );

  statementNeeding(['outcomes'], 'the pair of username and businessId fixes the taskStatus', async () => {
    const outcomes: readonly Outcome[] = ['PARTIAL', 'CREDENTIALS_WRONG', 'FAILED'];
    for (const outcome of outcomes) {
      const ends = await Promise.all(
        ['one-password', 'another-password'].map(async (password) => {
          const value = { ...credentialsFor(outcome), password };
          const request = { ...taskFor(outcome), credentials: { mode: 'raw', value } as const };
          return (await endOf(request)).taskStatus;
        }),
      );
      expect(ends).toEqual([outcome, outcome]);
    }
  });
});
