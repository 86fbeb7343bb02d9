import http from 'node:http';
import { Agent } from 'node:https';

type Environment = Readonly<Record<string, string | undefined>>;

/** What runs on this machine is reached without a proxy: an emulator, and the handler of `listen`. */
const withoutLoopback = (env: Environment): Environment => {
  const excluded = [env.no_proxy || env.NO_PROXY, 'localhost', '127.0.0.1', '::1'];
  return { ...env, NO_PROXY: undefined, no_proxy: excluded.filter(Boolean).join() };
};

const isSet = (env: Environment): boolean => Boolean(env.https_proxy || env.HTTPS_PROXY);

/**
 * Lets `fetch` use the proxy of `HTTPS_PROXY`, if one is set. Returns what undoes it. Node has it since 24.14
 * (https://nodejs.org/api/http.html#httpsetglobalproxyfromenvproxyenv); an older one ignores the proxy.
 */
export const useProxy = (env: Environment): (() => void) =>
  (isSet(env) && http.setGlobalProxyFromEnv?.(withoutLoopback(env))) || (() => {});

/** The same for a client of the SDK, which has an agent of its own. */
export const proxiedClient = (env: Environment) =>
  isSet(env)
    ? { requestHandler: { httpsAgent: new Agent({ keepAlive: true, proxyEnv: withoutLoopback(env) }) } }
    : {};
