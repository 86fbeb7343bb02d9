import { type Context, Hono } from 'hono';
import { describeStory } from '../explain/print-story.ts';
import { printableLines } from '../terminal/printable.ts';
import type { ConsoleAction } from './actions.ts';
import { addActionRoutes } from './answer-action.ts';
import { readAsset } from './assets.ts';
import { createFormTokens, type FormTokens } from './form-tokens.ts';
import { type ConsoleAddress, type ConsoleEnv, guardRequest } from './guard-request.ts';
import { type LiveDeps, sendLive } from './live.ts';
import { type Content, type Links, linksFrom } from './pages/content.ts';
import { deliveriesPage } from './pages/deliveries-page.ts';
import { extractionPage } from './pages/extraction-page.ts';
import { type Frame, framePage } from './pages/frame.ts';
import { healthPage } from './pages/health-page.ts';
import { listPage } from './pages/list-page.ts';
import { notFoundPage } from './pages/message-page.ts';
import { sandboxPage } from './pages/sandbox-page.ts';
import type { Html } from './shown.ts';
import { type ConsoleSources, readPart } from './sources.ts';

export type ConsoleDeps = LiveDeps & {
  readonly stage: string;
  readonly address: ConsoleAddress;
  readonly sources: ConsoleSources;
  /** What the operator may do. Without any, the console only reads. */
  readonly actions: readonly ConsoleAction[];
  /** A text that cannot be guessed, new at each call. */
  readonly random: () => string;
  /** Reports on the terminal what was done. */
  readonly onAction: (line: string) => void;
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
const loadPage = async ({ path, query }: PagePath, deps: ConsoleDeps, links: Links): Promise<Content> => {
  const { sources, now } = deps;
  const actionsOn = (place: ConsoleAction['place']) =>
    deps.actions.filter((action) => action.place === place);
  if (path === '/') return listPage(query, sources, links, now());
  if (path === '/deliveries') return deliveriesPage(query, sources, links, now());
  if (path === '/health') return healthPage({ sources, actions: actionsOn('health') }, links, now());
  const [, extractionId] = /^\/extractions\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (extractionId === undefined) return notFoundPage(links);
  return extractionPage(extractionId, query, { sources, actions: actionsOn('extraction') }, links);
};

const addLiveRoute = (app: Hono<ConsoleEnv>, path: string, deps: ConsoleDeps, links: Links): void => {
  const following = new Set<symbol>();
  app.get(path, (c) => {
    if (following.size >= mostFollowers) return c.text('Too many pages are open.\n', 503);
    const follower = Symbol('follower');
    following.add(follower);
    const page = parsePagePath(c.req.query('page') ?? '/');
    const load = () => loadPage(page, deps, links);
    return sendLive(c, { load, onEnd: () => following.delete(follower) }, deps);
  });
};

/** The story as `cosecha explain` prints it, as text and as JSON. */
const addStoryRoutes = (app: Hono<ConsoleEnv>, prefix: string, { sources }: ConsoleDeps): void => {
  app.get(`${prefix}/extractions/:id/:file{story\\.(?:txt|json)}`, async (c) => {
    const part = await readPart(() => sources.story(c.req.param('id')));
    if (part.kind === 'unreadable') return c.text(`${part.why}\n`, 502);
    if (part.value === undefined) return c.notFound();
    const isText = c.req.param('file').endsWith('.txt');
    return isText ? c.text(printableLines(describeStory(part.value))) : c.json(part.value);
  });
};

/** A page with forms that act is not live: a new version would take the form from under the operator's hands. */
const formSender =
  (frame: Frame, now: () => Date) =>
  (c: Context<ConsoleEnv>, title: string, body: Html, status: 200 | 409 | 502 = 200) => {
    c.set('hasForm', true);
    return c.html(framePage(frame, { title, body, now: now() }), status);
  };

const addForms = (
  app: Hono<ConsoleEnv>,
  prefix: string,
  { frame, tokens, deps }: { readonly frame: Frame; readonly tokens: FormTokens; readonly deps: ConsoleDeps },
): void => {
  const { links } = frame;
  const { actions, onAction } = deps;
  const send = formSender(frame, deps.now);
  addActionRoutes(app, `${prefix}/actions/:action`, { actions, tokens, links, onAction, send });
  if (!frame.hasSandbox) return;
  const scenarios = actions.filter(({ place }) => place === 'sandbox');
  app.get(`${prefix}/sandbox`, (c) =>
    send(
      c,
      'Sandbox',
      sandboxPage(scenarios, (id) => tokens.issue(`${id} `), links),
    ),
  );
};

/** The console as an HTTP application. It answers only requests from the operator's own browser. */
export const createConsoleApp = (deps: ConsoleDeps): Hono<ConsoleEnv> => {
  const { stage, address, actions, now, onError } = deps;
  const links = linksFrom(address.token);
  const hasSandbox = actions.some(({ place }) => place === 'sandbox');
  const frame: Frame = { stage, links, hasSandbox, isReadOnly: !actions.some(({ changes }) => changes) };
  const tokens = createFormTokens(deps.random, now);
  const prefix = `/${address.token}`;
  const app = new Hono<ConsoleEnv>();
  app.use('*', guardRequest(address));
  app.get(`${prefix}/assets/:name`, (c) => {
    const asset = readAsset(c.req.param('name'));
    return asset === undefined ? c.notFound() : c.body(asset.body, 200, { 'content-type': asset.type });
  });
  addLiveRoute(app, `${prefix}/live`, deps, links);
  addForms(app, prefix, { frame, tokens, deps });
  addStoryRoutes(app, prefix, deps);
  app.get(`${prefix}/*`, async (c) => {
    const { pathname, search } = new URL(c.req.url);
    const own = `${pathname.slice(prefix.length)}${search}`;
    const { title, status, body } = await loadPage(parsePagePath(own), deps, links);
    const at = now();
    const live = status === undefined ? { live: own } : {};
    return c.html(framePage(frame, { title, body: body(at), now: at, ...live }), status ?? 200);
  });
  app.onError((error, c) => {
    onError(error);
    return c.text('The console failed. Its terminal shows the cause.\n', 500);
  });
  return app;
};
