/** The address at which only this machine can connect, with its other users and the pages in its browsers. */
export const loopback = '127.0.0.1';

/** The host as browsers send it in `Host` and `Origin`: without the port if it is 80, the default of http. */
export const hostOf = (port: number, name = loopback): string => new URL(`http://${name}:${port}`).host;

/** The port on which a server listens, and optionally a second value of `Host` that it accepts, such as a tunnel's. */
export type OwnAddress = { readonly port: number; readonly host?: string | undefined };

/**
 * Why a server on loopback refuses a request, or undefined.
 *
 * A page in a browser of this machine can send requests to 127.0.0.1. If a form could send the request, the browser sends no preflight. The
 * browser names the page in `Origin` and `Sec-Fetch-Site`. If the page's name resolves to 127.0.0.1 (DNS rebinding), that name is in
 * `Host`. A GET that navigates is allowed, because a person may follow a link from another page or program. Programs send only `Host`.
 */
export const foreignRefusal = (
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  { port, host }: OwnAddress,
): string | undefined => {
  const named = headers.get('host')?.toLowerCase();
  const own = [...[loopback, 'localhost', '[::1]'].map((name) => hostOf(port, name)), host?.toLowerCase()];
  if (named === undefined || !own.includes(named)) return 'This server answers to its own address only.';
  const origin = headers.get('origin');
  const site = headers.get('sec-fetch-site');
  const navigates = method === 'GET' && headers.get('sec-fetch-mode') === 'navigate';
  const isForeign =
    (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== named)) ||
    (site !== null && site !== 'same-origin' && site !== 'none' && !navigates);
  return isForeign ? 'The request comes from another page.' : undefined;
};
