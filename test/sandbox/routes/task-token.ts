import { Hono } from 'hono';
import * as v from 'valibot';
import { NationalIdSchema } from '../consents/parse-otp-request.ts';
import type { Sandbox } from '../state-types.ts';
import { issueTaskToken } from '../tokens/issue-token.ts';
import { requireApiKey } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { readJson } from '../transport/read-json.ts';

const TaskTokenRequestSchema = v.strictObject({
  target: NationalIdSchema,
  clientId: v.pipe(v.string(), v.uuid()),
});

/** "Create Task Token". The user need not have a consent yet. */
export const taskTokenRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().post('/api/v1/token/task', requireApiKey(sandbox), (c) => {
    const parsed = readJson(c.get('body'), TaskTokenRequestSchema);
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
    const { target, clientId } = parsed.output;
    if (clientId !== c.get('client').clientId) return c.json({ message: 'Forbidden' }, 403);
    c.get('call').username = target;
    return c.json({ data: { taskToken: issueTaskToken(sandbox, clientId, target).token } });
  });
