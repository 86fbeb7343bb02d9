import { Hono } from 'hono';
import { readAsset } from './assets.ts';
import { type ConsoleAddress, guardRequest } from './guard-request.ts';
import { type LiveDeps, sendLive } from './live.ts';
import { type Content, type Links, linksFrom } from './pages/content.ts';
import { extractionPage } from './pages/extraction-page.ts';
import { type Frame, framePage } from './pages/frame.ts';
import { listPage } from './pages/list-page.ts';
import { notFoundPage } from './pages/message-page.ts';
import type { ConsoleSources } from './sources.ts';

export type ConsoleDeps = LiveDeps & {
  readonly stage: string;
  readonly address: ConsoleAddress;
  readonly sources: ConsoleSources;
};

/** Each open page reads from AWS every few seconds. */
const mostFollowers = 20;

/** A page's own path and query, such as `/extractions/0190…?from=0`. Only its secret prefix is left out. */
type PagePath = { readonly path: string; readonly query: URLSearchParams };

const parsePagePath = (text: string): PagePath => {
  const { pathname, searchParams } = new URL(text, 'http://console.invalid');
  return { path: pathname, query: searchParams };
};

/** Loads the page of a path, if it has one. Pages and their live updates are the same. */
const loadPage = async (
  { path, query }: PagePath,
  { sources, now }: ConsoleDeps,
  links: Links,
): Promise<Content> => {
  if (path === '/') return listPage(query, sources, links, now());
  const [, extractionId] = /^\/extractions\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (extractionId !== undefined) return extractionPage(extractionId, sources, links);
  return notFoundPage(links);
};

/** The console as an HTTP application. It answers only requests from the operator's own browser. */
export const createConsoleApp = (deps: ConsoleDeps): Hono => {
  const { stage, address, now, onError } = deps;
  const links = linksFrom(address.token);
  const frame: Frame = { stage, links };
  const prefix = `/${address.token}`;
  const app = new Hono();
  app.use('*', guardRequest(address));

  app.get(`${prefix}/assets/:name`, (c) => {
    const asset = readAsset(c.req.param('name'));
    return asset === undefined ? c.notFound() : c.body(asset.body, 200, { 'content-type': asset.type });
  });

  let followers = 0;
  app.get(`${prefix}/live`, (c) => {
    if (followers >= mostFollowers) return c.text('Too many pages are open.\n', 503);
    followers += 1;
    c.req.raw.signal.addEventListener('abort', () => {
      followers -= 1;
    });
    const page = parsePagePath(c.req.query('page') ?? '/');
    return sendLive(c, () => loadPage(page, deps, links), deps);
  });

  app.get(`${prefix}/*`, async (c) => {
    const { pathname, search } = new URL(c.req.url);
    const own = `${pathname.slice(prefix.length)}${search}`;
    const content = await loadPage(parsePagePath(own), deps, links);
    const { title, status } = content;
    const at = now();
    const live = status === undefined ? { live: own } : {};
    return c.html(framePage(frame, { title, body: content.body(at), now: at, ...live }), status ?? 200);
  });

  app.onError((error, c) => {
    onError(error);
    return c.text('The console failed. Its terminal shows the cause.\n', 500);
  });
  return app;
};
