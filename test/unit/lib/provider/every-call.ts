import type { Connection } from '#lib/provider/index.ts';
import * as provider from '#lib/provider/index.ts';

/** A value that must never be reported: it is sent as every token, key and password here. */
export const secret = 'sentinel-of-a-secret';
export const target = '11.111.111-1';
const clientId = '5f0c8e52-63c1-4c39-8ff5-0c2f1f0b6a11';

/** One endpoint of the document: how it is called, and an answer as the document shows it. */
type EveryCall = {
  readonly call: (connection: Connection) => Promise<unknown>;
  /** Its method and its path. */
  readonly request: string;
  /** Default: the Bearer token. */
  readonly header?: readonly [name: string, value: string];
  readonly body?: unknown;
  readonly status?: number;
  readonly answer: unknown;
};

const consent = {
  id: '0a1b2c3d-0000-4000-8000-000000000001',
  products: ['tef', 'movement'],
  tyc: { actualVersion: 3 },
  entity: { id: 'demo-bank', name: 'Demo bank', type: 'bank' },
  status: 'ACTIVE',
  subStatus: 'ACTIVE',
  validUntil: '2027-01-31T00:00:00.000Z',
};

const results = {
  username: '11111111-1',
  businessId: '77777777-7',
  entityId: 'demo-bank',
  actions: [
    { id: 'product-balance', status: 'COMPLETED', output: { accounts: [] } },
    {
      id: 'movement',
      status: 'FAILED',
      output: null,
      error: { code: 'TIMEOUT_ERROR', message: 'It took too long.' },
    },
  ],
};

const apiKey = ['x-api-key', secret] as const;
export const bearer = ['authorization', `Bearer ${secret}`] as const;
const otp = {
  products: ['tef'],
  user: { username: target, email: 'someone@example.com' },
  filters: { entities: { include: { types: ['bank'] } } },
  clientId,
  widgetConfigId: 'Widget-1',
  locale: 'es-CL',
} as const;
const company = { id: '77777777-7' };
const order = { product: 'movement', consentId: consent.id } as const;
const task = {
  entity: 'demo-bank',
  credentials: { mode: 'raw', value: { username: 'u', password: secret } },
  actions: [
    { id: 'product-balance' },
    { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
  ],
  webhook: { enable: true, retries: 5 },
} as const;
const legacyTask = { action: 'demo-bank:tef', encryptArgs: 'Y2lwaGVy-aXY=', webhook: false };
const user = { entityId: 'demo-bank', username: 'u' };
const preset = { responseType: 'aPreset' };

export const everyCall: readonly EveryCall[] = [
  {
    call: (connection) => provider.logIn(connection, secret, 30),
    request: 'POST /api/v1/auth/login',
    header: ['X-API-Key', secret],
    body: { expire: 30 },
    answer: { token: 'a-session-token' },
  },
  {
    call: (connection) => provider.createOtpToken(connection, secret, otp),
    request: 'POST /api/v1/token/otp/create',
    header: apiKey,
    body: otp,
    answer: { data: { otpToken: 'jwt', consentId: consent.id } },
  },
  {
    call: (connection) => provider.createLegalPersonOtpToken(connection, secret, { ...otp, company }),
    request: 'POST /api/v1/token/otp/create',
    header: apiKey,
    body: { ...otp, company },
    answer: { data: { otpToken: 'jwt', consentId: consent.id } },
  },
  {
    call: (connection) => provider.createTaskToken(connection, secret, { target, clientId }),
    request: 'POST /api/v1/token/task',
    header: apiKey,
    body: { target, clientId },
    answer: { data: { taskToken: 'jwt' } },
  },
  {
    call: (connection) =>
      provider.listConsents(connection, secret, { page: 2, limit: 5, filters: { status: 'ACTIVE' } }),
    request: 'GET /api/v1/consents?status=ACTIVE&page=2&limit=5',
    answer: { data: { consents: [consent], hasNext: false, count: 6 } },
  },
  {
    call: (connection) => provider.getConsent(connection, secret, consent.id),
    request: `GET /api/v1/consents/${consent.id}`,
    answer: { data: consent },
  },
  {
    call: (connection) => provider.getConsentPdf(connection, secret, consent.id),
    request: `GET /api/v1/consents/${consent.id}/pdf`,
    answer: { data: { url: 'https://files.example/consent.pdf?signature=x' } },
  },
  {
    call: (connection) => provider.revokeConsent(connection, secret, consent.id),
    request: 'POST /api/v1/consents/revoke',
    body: { consentId: consent.id },
    answer: { data: { consentId: consent.id, status: 'INACTIVE', subStatus: 'REVOKED' } },
  },
  {
    call: (connection) => provider.startExtraction(connection, secret, order),
    request: 'POST /api/v1/products/retrieve-data/tasks',
    body: order,
    answer: { taskId: 'task-1' },
  },
  {
    call: (connection) => provider.pollExtraction(connection, secret, 'task-1'),
    request: 'GET /api/v1/products/retrieve-data/tasks/task-1',
    answer: { taskStatus: 'success', taskStatusCode: 200, results: [{ amount: 1 }] },
  },
  {
    call: (connection) => provider.pollExtraction(connection, secret, 'task-1'),
    request: 'GET /api/v1/products/retrieve-data/tasks/task-1',
    status: 202,
    answer: { taskStatus: 'pending', taskStatusCode: 202 },
  },
  {
    call: (connection) => provider.retrieveData(connection, secret, order),
    request: 'POST /api/v1/products/retrieve-data',
    body: order,
    answer: { taskStatus: 'success', taskStatusCode: 200, data: [{ amount: 1 }] },
  },
  {
    call: (connection) => provider.startExtractionV2(connection, secret, order),
    request: 'POST /api/v2/products/retrieve-data/tasks',
    body: order,
    answer: { data: { taskId: 'task-1' } },
  },
  {
    call: (connection) => provider.pollExtractionV2(connection, secret, 'task-1'),
    request: 'GET /api/v2/products/retrieve-data/tasks/task-1',
    answer: { data: [{ amount: 1 }] },
  },
  {
    call: (connection) => provider.startTask(connection, secret, task),
    request: 'POST /api/v2/tasks',
    body: task,
    answer: { taskId: 'task-1' },
  },
  {
    call: (connection) => provider.readTypedTask(connection, secret, 'task-1'),
    request: 'GET /api/v2/tasks/task-1',
    answer: { taskStatus: 'PARTIAL', results },
  },
  {
    call: (connection) => provider.startLegacyTask(connection, secret, legacyTask, preset),
    request: 'POST /api/v1/tasks?responseType=aPreset',
    body: legacyTask,
    answer: { taskId: 'task-1' },
  },
  {
    call: (connection) => provider.pollLegacyTask(connection, secret, 'task-1', preset),
    request: 'GET /api/v1/tasks/task-1?responseType=aPreset',
    answer: {
      taskStatus: 'success',
      taskStatusCode: 200,
      results: { username: 'u', entityId: 'demo-bank', data: [{ alias: '' }] },
    },
  },
  {
    call: (connection) => provider.listEntities(connection, secret, preset),
    request: 'GET /api/v1/entities?responseType=aPreset',
    answer: [
      {
        name: 'Demo bank',
        id: 'demo-bank',
        enabled: true,
        actions: [{ name: 'demo-bank:tef', actionType: 'tef', enabled: false }],
      },
    ],
  },
  {
    call: (connection) => provider.getUserStatus(connection, secret, user, preset),
    request: 'POST /api/v1/users/status/by-entity?responseType=aPreset',
    body: user,
    answer: { enabled: false, retryAfter: '2026-01-31T00:00:00.000Z' },
  },
];
