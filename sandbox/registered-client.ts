import { entityOf } from './entities.ts';
import type { ClientSettings } from './plan-schemas.ts';
import type { Client } from './state-types.ts';

/** The provider supplies it to each client. Here all clients have the same by default. */
export const DEFAULT_WIDGET_CONFIG_ID = 'sandbox-widget';

/** The id must be a UUID to create OTP tokens and Task Tokens ("Create OTP token"). */
export type ClientOptions = ClientSettings & { readonly clientId: string };

export const clientFrom = ({ webhook, ...options }: ClientOptions): Client => ({
  widgetConfigId: DEFAULT_WIDGET_CONFIG_ID,
  ...options,
  webhook: { mode: 'plain', ...webhook },
  loginBehaviours: [],
  restrictions: {},
});

/** Any slug is an entity, unless the client is restricted to listed entities. */
export const acceptsEntity = ({ restrictions }: Client, entityId: string): boolean =>
  restrictions.listedEntitiesOnly !== true || entityOf(entityId) !== undefined;
