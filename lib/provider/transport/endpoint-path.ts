import { notShownEndpoints } from '../assumptions.ts';
import type { Connection, Endpoint } from './send-request.ts';

/** Returns an endpoint that the document does not show: from the connection's setting, or else the assumption. */
export const endpointOf = (connection: Connection, name: keyof typeof notShownEndpoints): Endpoint =>
  connection.endpoints?.[name] ?? notShownEndpoints[name];

/** Replaces the parameters of a path with their encoded values. */
export const fillPath = (path: string, parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters).reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, () => encodeURIComponent(value)),
    path,
  );

/** Returns `?a=b`, or an empty text if every parameter is undefined. */
export const queryOf = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
};
