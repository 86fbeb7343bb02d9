/**
 * Where the emulator serves an HTTP API, without a trailing slash. By path, as the host in the stack's output is a
 * `*.localhost`, which Node does not resolve.
 */
export const emulatorApiUrl = (endpoint: string, apiId: string): string =>
  `${endpoint.replace(/\/+$/, '')}/_aws/execute-api/${apiId}/$default`;

/** A URL of the API on AWS, such as the output WebhookUrl, as the emulator serves it: by its path. */
export const toEmulatorUrl = (base: string, url: string): string => {
  const { pathname } = new URL(url);
  return pathname === '/' ? base : `${base}${pathname}`;
};
