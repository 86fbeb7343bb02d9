import { Hono } from 'hono';
import * as v from 'valibot';
import { ENTITIES } from '../entities.ts';
import { DISABLED_USERNAME, ENTITIES_PRESETS, entityItem } from '../legacy/presets.ts';
import { planOf } from '../planned-behaviour.ts';
import { acceptsEntity } from '../registered-client.ts';
import type { Sandbox } from '../state-types.ts';
import { plannedOutcome } from '../tasks/finish-task.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { readJson } from '../transport/read-json.ts';
import { unknownPreset } from '../transport/refusal.ts';

/** The document does not show the body. */
const UserStatusSchema = v.strictObject({
  entityId: v.pipe(v.string(), v.minLength(1)),
  username: v.pipe(v.string(), v.minLength(1)),
});

const LOCKED_FOR_MS = 60 * 60 * 1000;

/** "User status by entity (sandbox shape)". A user is disabled if their tasks end CREDENTIALS_LOCKED. */
export const legacyUserStatusRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().post('/api/v1/users/status/by-entity', requireSession(sandbox), (c): Response => {
    const responseType = c.req.query('responseType');
    const now = sandbox.clock.now();
    if (responseType === DISABLED_USERNAME) return c.json(userStatus(false, now));
    if (responseType !== undefined) return unknownPreset(c);
    const parsed = readJson(c.get('body'), UserStatusSchema);
    if (!parsed.valid) return c.json({ message: 'Invalid request', invalid: parsed.invalid }, 400);
    const { entityId, username } = parsed.output;
    if (!acceptsEntity(c.get('client'), entityId)) {
      return c.json({ message: 'Invalid request', invalid: ['entityId'] }, 400);
    }
    c.get('call').username = username;
    const outcome = plannedOutcome({ username }, planOf(sandbox, username));
    const locked = outcome.kind === 'credentials' && outcome.taskStatus === 'CREDENTIALS_LOCKED';
    return c.json(userStatus(!locked, now));
  });

/** `retryAfter` of an enabled user is now. */
const userStatus = (enabled: boolean, now: number) => ({
  enabled,
  retryAfter: new Date(enabled ? now : now + LOCKED_FOR_MS).toISOString(),
});

/** "Entity listing item (sandbox shape)". */
export const legacyEntityRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().get('/api/v1/entities', requireSession(sandbox), (c): Response => {
    const responseType = c.req.query('responseType');
    const preset = ENTITIES_PRESETS.get(responseType ?? '');
    if (preset !== undefined) return c.json(preset());
    return responseType === undefined ? c.json(ENTITIES.map(entityItem)) : unknownPreset(c);
  });
