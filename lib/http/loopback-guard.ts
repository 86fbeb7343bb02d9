/** Only this machine can connect. Its other users and the pages in its browsers can. */
export const loopback = '127.0.0.1';

/** The host as browsers send it in `Host` and `Origin`: without the port where it is that of http, 80. */
export const hostOf = (port: number, name = loopback): string => new URL(`http://${name}:${port}`).host;

/** Where a server answers: the port on which it listens, and a further host as it is in `Host`, such as that of a tunnel. */
export type OwnAddress = { readonly port: number; readonly host?: string | undefined };

/**
 * Why a server that listens on loopback refuses a request, or undefined.
 *
 * Any page in a browser of this machine can send requests to 127.0.0.1, and without a preflight if a form could send them. A browser
 * names the page in `Origin` and `Sec-Fetch-Site`. A page whose name resolves to 127.0.0.1 (DNS rebinding) has that name in `Host`. A link in
 * another page or program may be followed, which is a GET that navigates. Programs send none of these but `Host`.
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
