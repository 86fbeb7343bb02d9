import * as v from 'valibot';
import { type Call, checkApiKey, ok, type ProviderAnswer, Refused, readBearer, readBody } from './call.ts';
import { type ConsentScenario, largestResultBytes, parseNationalId } from './scenario.ts';
import { actionIds, hasEnded, outputOf } from './task.ts';
import { consentIdOf, issueToken, openToken } from './tokens.ts';

/** What the provider's account contact would supply. */
export const fakeClient = {
  providerClientId: '00000000-0000-4000-8000-0000000c0de0',
  widgetConfigId: 'fake-widget',
} as const;

/** A national id in one form. Throws Refused with 400 if it is no scenario. */
const targetOf = (nationalId: string, now: number): { target: string; scenario: ConsentScenario } => {
  const scenario = parseNationalId(nationalId, now);
  if (scenario === undefined) throw new Refused(400, 'UNKNOWN_SCENARIO');
  return { target: nationalId.replace(/[.-]/g, '').toUpperCase(), scenario };
};

const clientId = v.literal(fakeClient.providerClientId);
const otpSchema = v.object({
  clientId,
  products: v.array(v.picklist(actionIds)),
  user: v.object({ username: v.string() }),
  company: v.optional(v.object({ id: v.string() })),
  widgetConfigId: v.literal(fakeClient.widgetConfigId),
});
const taskTokenSchema = v.object({ clientId, target: v.string() });

const minute = 60;

/** "Create OTP token". The consent that it creates is the user's only one. */
export const createOtpToken = async (call: Call): Promise<ProviderAnswer> => {
  await checkApiKey(call);
  const { user, company } = readBody(call, otpSchema);
  const { target, scenario } = targetOf(company?.id ?? user.username, call.now);
  const otpToken = issueToken(call.key, 'otp', [call.ports.nonce(), String(call.now + 10 * minute)]);
  return ok({ data: { otpToken, consentId: consentIdOf(call.key, target, scenario.authorizedAt) } });
};

/** "Create Task Token". */
export const createTaskToken = async (call: Call): Promise<ProviderAnswer> => {
  await checkApiKey(call);
  const { target } = targetOf(readBody(call, taskTokenSchema).target, call.now);
  return ok({ data: { taskToken: issueToken(call.key, 'user', [target, String(call.now + 60 * minute)]) } });
};

/** The user that the Task Token is bound to, and the user's only consent. */
const readUser = (call: Call) => {
  const { target, scenario } = targetOf(readBearer(call, 'user').fields[0] ?? '', call.now);
  const active = call.now >= scenario.authorizedAt;
  const consent = {
    id: consentIdOf(call.key, target, scenario.authorizedAt),
    products: actionIds,
    tyc: { actualVersion: 1 },
    entity: { id: 'fake-bank', name: 'Fake bank', type: 'bank' },
    status: active ? 'ACTIVE' : 'IN_PROGRESS',
    subStatus: active ? 'ACTIVE' : 'IN_PROGRESS',
    validUntil: new Date((scenario.authorizedAt + 86_400) * 1_000).toISOString(),
  };
  return { target, scenario, consent };
};

/** "List consents". */
export const listConsents = (call: Call): ProviderAnswer =>
  ok({ data: { consents: [readUser(call).consent], hasNext: false, count: 1 } });

/** Throws Refused with 404 unless this is the user's consent. */
const checkConsent = (consentId: unknown, { consent }: ReturnType<typeof readUser>): void => {
  if (consentId !== consent.id) throw new Refused(404, 'UNKNOWN_CONSENT');
};

/** "Get consent". */
export const getConsent = (call: Call): ProviderAnswer => {
  const user = readUser(call);
  checkConsent(call.params[0], user);
  return ok({ data: user.consent });
};

const consentIdSchema = v.object({ consentId: v.string() });

/** "Revoke consent". Nothing remembers it, so that the consent is as before in later answers. */
export const revokeConsent = (call: Call): ProviderAnswer => {
  const user = readUser(call);
  const { consentId } = readBody(call, consentIdSchema);
  checkConsent(consentId, user);
  return ok({ data: { consentId, status: 'INACTIVE', subStatus: 'REVOKED' } });
};

/** Binds a taskId to its user without the national id, as a taskId is no secret. */
const taskKind = (target: string): string => `extraction ${target}`;

const extractionSchema = v.object({ consentId: v.string(), product: v.picklist(actionIds) });

/** "Start extraction", in both versions. */
export const startExtraction = (call: Call): ProviderAnswer => {
  const user = readUser(call);
  const { consentId, product } = readBody(call, extractionSchema);
  checkConsent(consentId, user);
  if (user.consent.status !== 'ACTIVE') throw new Refused(403, 'CONSENT_NOT_ACTIVE');
  const taskId = issueToken(call.key, taskKind(user.target), [call.ports.nonce(), String(call.now), product]);
  return ok(call.params[0] === 'v1' ? { taskId } : { data: { taskId } });
};

/** "Poll extraction", in both versions. */
export const pollExtraction = (call: Call): ProviderAnswer => {
  const { target, scenario } = readUser(call);
  const [version, taskId = ''] = call.params;
  const [, startedAt, product] = openToken(call.key, taskKind(target), taskId) ?? [];
  const action = actionIds.find((id) => id === product);
  if (action === undefined) throw new Refused(404, 'UNKNOWN_TASK');
  const endsAfter = scenario.outcome === 'NEVER' ? 'never' : scenario.endsAfter;
  if (!hasEnded({ startedAt: Number(startedAt), endsAfter }, call.now)) {
    return { status: 202, body: { taskStatus: 'running', taskStatusCode: 202 } };
  }
  if (scenario.outcome === 'FAILED') throw new Refused(422, 'FAILED_BY_SCENARIO');
  const bytes = scenario.outcome === 'OVERSIZED' ? largestResultBytes : 0;
  const items = [outputOf(action, bytes)].flat();
  return ok(
    version === 'v1' ? { taskStatus: 'success', taskStatusCode: 200, results: items } : { data: items },
  );
};
