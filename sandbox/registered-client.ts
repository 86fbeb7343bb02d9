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

/** Whether the client's rate admits one more start now: a token bucket. */
export const takesStart = (client: Client, now: number): boolean => {
  const { startsPerSecond, startsAtOnce = Math.max(1, Math.ceil(startsPerSecond ?? 0)) } =
    client.restrictions;
  if (startsPerSecond === undefined) return true;
  const { count, at } = client.startsLeft ?? { count: startsAtOnce, at: now };
  const left = Math.min(startsAtOnce, count + ((now - at) * startsPerSecond) / 1_000);
  client.startsLeft = { count: left < 1 ? left : left - 1, at: now };
  return left >= 1;
};
