import { Hono } from 'hono';
import { ENTITIES } from '../entities.ts';
import { ENTITIES_PRESETS, entityItem } from '../legacy/presets.ts';

import type { Sandbox } from '../state-types.ts';
import { requireSession } from '../transport/authenticate.ts';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { unknownPreset } from '../transport/refusal.ts';

/** "Entity listing item (sandbox shape)". */
export const legacyEntityRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().get('/api/v1/entities', requireSession(sandbox), (c): Response => {
    const responseType = c.req.query('responseType');
    const preset = ENTITIES_PRESETS.get(responseType ?? '');
    if (preset !== undefined) return c.json(preset());
    return responseType === undefined ? c.json(ENTITIES.map(entityItem)) : unknownPreset(c);
  });
