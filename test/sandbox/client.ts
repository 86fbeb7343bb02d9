import { entityOf } from './entities.ts';
import type { WebhookSettings } from './plan.ts';
import type { Client } from './state.ts';

/** Supplied by the account contact at the provider; the same for every client here, unless it is given. */
export const DEFAULT_WIDGET_CONFIG_ID = 'sandbox-widget';

export type ClientOptions = {
  /** A UUID, or the client can create neither OTP tokens nor Task Tokens ("Create OTP token"). */
  readonly clientId: string;
  readonly apiKey: string;
  /** Of its consent pages; `sandbox-widget` unless it is given. */
  readonly widgetConfigId?: string;
  /** `mode` is plain unless it is given. */
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

/** Any slug is taken for an entity, unless the client is restricted to those of the listing. */
export const acceptsEntity = ({ restrictions }: Client, entityId: string): boolean =>
  restrictions.listedEntitiesOnly !== true || entityOf(entityId) !== undefined;
