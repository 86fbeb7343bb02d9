import * as v from 'valibot';
import { type Call, checkApiKey, readBearer, readBody, refused } from './call.ts';
import { consentIdOf, issueToken, openToken } from './issue-token.ts';
import { parseNationalId } from './scenario.ts';
import { actionIds, hasEnded, output } from './task.ts';

/** What the provider's account contact would supply. */
export const fakeClient = {
  providerClientId: '00000000-0000-4000-8000-0000000c0de0',
  widgetConfigId: 'fake-widget',
} as const;

/** A national id in one form. Refused with 400 if it is no scenario. */
const targetOf = (nationalId: string, now: number) => {
  const scenario = parseNationalId(nationalId, now);
  if (scenario === undefined) throw refused(400, 'UNKNOWN_SCENARIO');
  return { target: nationalId.replace(/[.-]/g, '').toUpperCase(), ...scenario };
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
export const createOtpToken = async (call: Call) => {
  const { ports, key, now } = call.var;
  await checkApiKey(call);
  const { user, company } = await readBody(call, otpSchema);
  const { target, authorizedAt } = targetOf(company?.id ?? user.username, now);
  const otpToken = issueToken(key, 'otp', [ports.nonce(), now + 10 * minute]);
  return call.json({ data: { otpToken, consentId: consentIdOf(key, target, authorizedAt) } });
};

/** "Create Task Token". */
export const createTaskToken = async (call: Call) => {
  const { key, now } = call.var;
  await checkApiKey(call);
  const { target } = targetOf((await readBody(call, taskTokenSchema)).target, now);
  return call.json({ data: { taskToken: issueToken(key, 'user', [target, now + 60 * minute]) } });
};

/** The user that the Task Token is bound to. */
const readUser = (call: Call) => targetOf(readBearer(call, 'user').fields[0] ?? '', call.var.now);

/** The user's only consent. Refused with 404 unless it has this id. */
const readConsent = (call: Call, consentId: string | undefined) => {
  const { key, now } = call.var;
  const { target, authorizedAt } = readUser(call);
  if (consentId !== consentIdOf(key, target, authorizedAt)) throw refused(404, 'UNKNOWN_CONSENT');
  const status = now >= authorizedAt ? 'ACTIVE' : 'IN_PROGRESS';
  return {
    id: consentId,
    products: actionIds,
    tyc: { actualVersion: 1 },
    entity: { id: 'fake-bank', name: 'Fake bank', type: 'bank' },
    status,
    subStatus: status,
    validUntil: new Date((authorizedAt + 86_400) * 1_000).toISOString(),
  };
};

/** "Get consent". */
export const getConsent = (call: Call) => call.json({ data: readConsent(call, call.req.param('consentId')) });

const consentIdSchema = v.object({ consentId: v.string() });

/** "Revoke consent". Nothing remembers it, so that the consent is as before in later answers. */
export const revokeConsent = async (call: Call) => {
  const { consentId } = await readBody(call, consentIdSchema);
  readConsent(call, consentId);
  return call.json({ data: { consentId, status: 'INACTIVE', subStatus: 'REVOKED' } });
};

/** Binds a taskId to its user without the national id, as a taskId is no secret. */
const taskKind = (target: string): string => `extraction ${target}`;

const extractionSchema = v.object({ consentId: v.string(), product: v.picklist(actionIds) });

/** "Start extraction", in both versions. */
export const startExtraction = async (call: Call) => {
  const { ports, key, now } = call.var;
  const { consentId } = await readBody(call, extractionSchema);
  if (readConsent(call, consentId).status !== 'ACTIVE') throw refused(403, 'CONSENT_NOT_ACTIVE');
  const taskId = issueToken(key, taskKind(readUser(call).target), [ports.nonce(), now]);
  return call.json(call.req.param('version') === 'v1' ? { taskId } : { data: { taskId } });
};

/** "Poll extraction", in both versions. */
export const pollExtraction = (call: Call) => {
  const { target, endsAfter } = readUser(call);
  const [, startedAt] = openToken(call.var.key, taskKind(target), call.req.param('taskId') ?? '') ?? [];
  if (startedAt === undefined) throw refused(404, 'UNKNOWN_TASK');
  if (!hasEnded({ startedAt: Number(startedAt), endsAfter }, call.var.now)) {
    return call.json({ taskStatus: 'running', taskStatusCode: 202 }, 202);
  }
  const results = [output(0)];
  return call.json(
    call.req.param('version') === 'v1'
      ? { taskStatus: 'success', taskStatusCode: 200, results }
      : { data: results },
  );
};
