import { entityOf } from './entities.ts';
import type { WebhookSettings } from './plan-schemas.ts';
import type { Client } from './state-types.ts';

/** The provider supplies it to each client. Here all clients have the same by default. */
export const DEFAULT_WIDGET_CONFIG_ID = 'sandbox-widget';

export type ClientOptions = {
  /** Must be a UUID to create OTP tokens and Task Tokens ("Create OTP token"). */
  readonly clientId: string;
  readonly apiKey: string;
  /** The widget configuration of its consent pages. Default `sandbox-widget`. */
  readonly widgetConfigId?: string;
  /** The default `mode` is plain. */
  readonly webhook?: WebhookSettings;
};

export const clientFrom = ({
  clientId,
  apiKey,
  widgetConfigId = DEFAULT_WIDGET_CONFIG_ID,
  webhook,
}: ClientOptions): Client => ({
  clientId,
  apiKey,
  widgetConfigId,
  webhook: { mode: 'plain', ...webhook },
  loginBehaviours: [],
  restrictions: {},
});

/** Any slug is an entity, unless the client is restricted to listed entities. */
export const acceptsEntity = ({ restrictions }: Client, entityId: string): boolean =>
  restrictions.listedEntitiesOnly !== true || entityOf(entityId) !== undefined;
