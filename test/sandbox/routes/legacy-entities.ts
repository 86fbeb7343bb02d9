import { Hono } from 'hono';
import { ENTITIES } from '../entities.ts';
import { entityItem } from '../legacy/entity-item.ts';
import { ENTITIES_PRESETS } from '../legacy/presets.ts';
import type { Sandbox } from '../state.ts';
import { requireSession } from '../transport/require-session.ts';
import type { SandboxEnv } from '../transport/wire.ts';
import { unknownPreset } from './unknown-preset.ts';

/** "Entity listing item (sandbox shape)". */
export const legacyEntityRoutes = (sandbox: Sandbox): Hono<SandboxEnv> =>
  new Hono<SandboxEnv>().get('/api/v1/entities', requireSession(sandbox), (c): Response => {
    const responseType = c.req.query('responseType');
    const preset = ENTITIES_PRESETS.get(responseType ?? '');
    if (preset !== undefined) return c.json(preset());
    return responseType === undefined ? c.json(ENTITIES.map(entityItem)) : unknownPreset(c);
  });
