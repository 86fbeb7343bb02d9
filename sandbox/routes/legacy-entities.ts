import type { Hono } from 'hono';
import * as v from 'valibot';
import { ENTITIES_PRESETS, entityItems } from '../legacy/presets.ts';
import { planOf } from '../planned-behaviour.ts';
import { acceptsEntity } from '../registered-client.ts';
import type { Sandbox } from '../state-types.ts';
import { plannedOutcome } from '../tasks/finish-task.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { bodyOf } from '../transport/read-json.ts';
import { invalidRequest } from '../transport/refusal.ts';

/** The document does not show the body. */
const UserStatusSchema = v.strictObject({
  entityId: v.pipe(v.string(), v.minLength(1)),
  username: v.pipe(v.string(), v.minLength(1)),
});

const LOCKED_FOR_MS = 60 * 60 * 1000;

/** "Legacy v1 task API", its entities and the status of their users. */
export const addLegacyEntityRoutes = (app: Hono<SandboxEnv>, sandbox: Sandbox): void => {
  app.get('/api/v1/entities', requireSession(sandbox), (c) => {
    const responseType = c.req.query('responseType');
    if (responseType === undefined) return c.json(entityItems());
    const preset = ENTITIES_PRESETS.get(responseType);
    if (preset === undefined) throw invalidRequest(c, ['responseType']);
    return c.json(preset());
  });

  // A user is disabled if their tasks end CREDENTIALS_LOCKED. `retryAfter` of an enabled user is now.
  app.post('/api/v1/users/status/by-entity', requireSession(sandbox), (c) => {
    const responseType = c.req.query('responseType');
    const answer = (enabled: boolean) => {
      const retryAfter = new Date(sandbox.clock.now() + (enabled ? 0 : LOCKED_FOR_MS));
      return c.json({ enabled, retryAfter });
    };
    if (responseType === 'disabledUsername') return answer(false);
    if (responseType !== undefined) throw invalidRequest(c, ['responseType']);
    const { entityId, username } = bodyOf(c, UserStatusSchema);
    if (!acceptsEntity(c.get('client'), entityId)) throw invalidRequest(c, ['entityId']);
    c.get('call').username = username;
    const outcome = plannedOutcome({ username }, planOf(sandbox, username));
    return answer(outcome.kind !== 'credentials' || outcome.taskStatus !== 'CREDENTIALS_LOCKED');
  });
};
