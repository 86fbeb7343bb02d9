import { notShownEndpoints } from '../assumptions.ts';
import type { Connection, Endpoint } from './send-request.ts';

/** An endpoint that the document does not show: the connection's own, or else the assumed one. */
export const endpointOf = (connection: Connection, name: keyof typeof notShownEndpoints): Endpoint =>
  connection.endpoints?.[name] ?? notShownEndpoints[name];

/** Fills the parameters of a path, encoded. */
export const fillPath = (path: string, parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters).reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, () => encodeURIComponent(value)),
    path,
  );

/** `?a=b`, or nothing if there is nothing to ask. */
export const queryOf = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
};
