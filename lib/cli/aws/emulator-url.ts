/**
 * Where the emulator serves an HTTP API: by path, as Node resolves no `*.localhost` and the host of the stack's own
 * output is one. Without a trailing slash; routes are appended to it.
 */
export const emulatorApiUrl = (endpoint: string, apiId: string): string =>
  `${endpoint.replace(/\/+$/, '')}/_aws/execute-api/${apiId}/$default`;

/** The same place as a URL of the API on AWS, by its path; for example that of the output WebhookUrl. */
export const toEmulatorUrl = (base: string, url: string): string => {
  const { pathname } = new URL(url);
  return pathname === '/' ? base : `${base}${pathname}`;
};
