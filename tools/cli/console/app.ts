import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import { html, raw } from 'hono/html';
import { stream } from 'hono/streaming';
import type { StreamingApi } from 'hono/utils/stream';
import { formatStory } from '../explain/format-story.ts';
import type { CommandText } from '../terminal/command-text.ts';
import { printableLines } from '../terminal/printable.ts';
import { addActionRoutes, subjectOfToken } from './actions/action-routes.ts';
import type { ConsoleAction, Notice, SandboxState } from './actions/action-types.ts';
import type { Html } from './format-for-page.ts';
import { type ConsoleAddress, type ConsoleEnv, guardRequest } from './guard-request.ts';
import { showNotice } from './pages/action-pages.ts';
import { deliveriesPage } from './pages/deliveries-page.ts';
import { extractionPage } from './pages/extraction-page.ts';
import { type Frame, framePage } from './pages/frame.ts';
import { type DeploymentState, readState, showBanner } from './pages/health-banner-and-strip.ts';
import { healthPage } from './pages/health-page.ts';
import { linePage } from './pages/line-page.ts';
import { listPage } from './pages/list-page.ts';
import { type Content, linksFrom, notFoundPage } from './pages/page-content-and-links.ts';
import { sandboxPage } from './pages/sandbox-page.ts';
import { type LiveDeps, sendLive } from './send-live-updates.ts';
import { type ConsoleSources, readPart } from './sources/sources.ts';
import { createShortLived, type ShortLived } from './values-by-random-id.ts';

export type ConsoleDeps = LiveDeps & {
  readonly stage: string;
  readonly command: CommandText;
  readonly address: ConsoleAddress;
  readonly sources: ConsoleSources;
  /** What the operator may do. Without any, the console only reads. */
  readonly actions: readonly ConsoleAction[];
  /** Only `npm start` has a sandbox of the provider. */
  readonly sandboxState?: () => Promise<SandboxState>;
  /** A text that cannot be guessed, new at each call. */
  readonly random: () => string;
  readonly onAction: (line: string) => void;
};

const assetTypes: ReadonlyMap<string, string> = new Map([
  ['console.css', 'text/css; charset=utf-8'],
  ['console.js', 'text/javascript; charset=utf-8'],
  ['console.svg', 'image/svg+xml'],
]);

/** Each open page reads from AWS every few seconds. */
const maxFollowers = 20;

/** A page's own path and query, such as `/extractions/0190…?from=0`. Only its secret prefix is left out. */
type PagePath = { readonly path: string; readonly query: URLSearchParams };

/** Any text is the path of a page, or of none. So that none throws, it is not parsed as a URL. */
const parsePagePath = (text: string): PagePath => {
  const [path = '', ...query] = text.split('?');
  return { path, query: new URLSearchParams(query.join('?')) };
};

type Making = {
  readonly deps: ConsoleDeps;
  readonly frame: Frame;
  readonly tokens: ShortLived<string>;
  readonly notices: ShortLived<Notice>;
};

const loadOwn = async (
  { path, query }: PagePath,
  state: DeploymentState,
  { deps: { sources, actions, command, now }, frame: { links } }: Making,
): Promise<Content> => {
  const actionsOn = (place: ConsoleAction['place']) => actions.filter((action) => action.place === place);
  if (path === '/') return listPage(query, { sources, state, actions: actionsOn('list') }, links, now());
  if (path === '/deliveries') return deliveriesPage(query, sources, links, now());
  if (path === '/health') return healthPage({ sources, state, actions: actionsOn('health') }, links);
  if (path === '/line') return linePage(query, { sources, state }, links);
  const [, extractionId] = /^\/extractions\/([0-9a-f-]{36})$/.exec(path) ?? [];
  if (extractionId === undefined) return notFoundPage(links);
  return extractionPage(
    extractionId,
    query,
    { sources, state, command, actions: actionsOn('extraction') },
    links,
  );
};

/** A page with what is above each: what is held, and what a form did. Pages and their live updates are the same. */
const loadPage = async (page: PagePath, making: Making): Promise<Content> => {
  const { deps, frame, notices } = making;
  const { links } = frame;
  const state = await readState(deps.sources);
  const notice = notices.find(page.query.get('did'));
  const content = await loadOwn(page, state, making);
  return {
    ...content,
    model: [state, notice, content.model],
    body: (at) =>
      html`${withWholeWords(html`${showBanner(state, links, at)}${showNotice(notice, links)}${content.body(at)}`)}`,
  };
};

/** No word of a command on a page breaks. */
const withWholeWords = async (body: Html): Promise<Html> => {
  const text = String(await body);
  return raw(text.replace(/(?<=<code>)[^<]+/g, (code) => code.replace(/\S*-\S*/g, '<span>$&</span>')));
};

const addLiveRoute = (app: Hono<ConsoleEnv>, path: string, making: Making): void => {
  const following = new Set<symbol>();
  app.get(path, (c) => {
    if (following.size >= maxFollowers) return c.text('Too many pages are open.\n', 503);
    const follower = Symbol('follower');
    following.add(follower);
    const page = parsePagePath(c.req.query('page') ?? '/');
    const load = () => loadPage(page, making);
    return sendLive(c, { load, onEnd: () => following.delete(follower) }, making.deps);
  });
};

/** The story as `cosecha explain` prints it, as text and as JSON. */
const addStoryRoutes = (app: Hono<ConsoleEnv>, prefix: string, { sources }: ConsoleDeps): void => {
  app.get(`${prefix}/extractions/:id/:file{story\\.(?:txt|json)}`, async (c) => {
    const part = await readPart(() => sources.story(c.req.param('id')));
    if (part.kind === 'unreadable') return c.text(`${part.explanation}\n`, 502);
    if (part.value === undefined) return c.notFound();
    const isText = c.req.param('file').endsWith('.txt');
    return isText ? c.text(printableLines(formatStory(part.value))) : c.json(part.value);
  });
};

/** A page with forms that act is not live: a new version would take the form from under the operator's hands. */
const formSender =
  ({ deps, frame }: Making) =>
  async (c: Context<ConsoleEnv>, title: string, body: Html) => {
    c.set('hasForm', true);
    const at = deps.now();
    const banner = showBanner(await readState(deps.sources), frame.links, at);
    return c.html(framePage(frame, { title, body: html`${banner}${body}`, now: at }));
  };

const addForms = (app: Hono<ConsoleEnv>, prefix: string, making: Making): void => {
  const { deps, frame, tokens, notices } = making;
  const { actions, onAction, sandboxState } = deps;
  const { links } = frame;
  const send = formSender(making);
  addActionRoutes(app, `${prefix}/actions/:action`, { actions, tokens, notices, links, onAction, send });
  if (!frame.hasSandbox) return;
  const scenarios = actions.filter(({ place }) => place === 'sandbox');
  app.get(`${prefix}/sandbox`, async (c) => {
    const current = (await sandboxState?.()) ?? { active: [] };
    const notice = notices.find(c.req.query('did') ?? null);
    const issueToken = (id: string) => tokens.keep(subjectOfToken({ id }, ''));
    return send(c, 'Sandbox', sandboxPage({ actions: scenarios, ...current, issueToken, notice }, links));
  });
};

/** A page that takes longer, in milliseconds, sends its frame first, so that nobody looks at the page before. */
const frameAfterMs = 100;

const slowTitles: Readonly<Record<string, string>> = {
  '/': 'Extractions',
  '/line': 'Line',
  '/deliveries': 'Deliveries',
  '/health': 'Health',
};

/** The frame at once, and the content once it is read. The style sheet hides what says that it is being read. */
const sendFrameFirst = (
  c: Context<ConsoleEnv>,
  { own, loading }: { readonly own: string; readonly loading: Promise<Content> },
  { deps: { now, onError }, frame }: Making,
) => {
  const reading = '<p class="reading" role="status">Reading…</p>';
  const title = slowTitles[parsePagePath(own).path] ?? 'Extraction';
  c.header('content-type', 'text/html; charset=utf-8');
  const write = async (out: StreamingApi): Promise<void> => {
    const framed = String(await framePage(frame, { title, body: raw(reading), now: now(), live: own }));
    const [before = '', after = ''] = framed.split(reading);
    await out.write(`${before}${reading}`);
    const content = await loading;
    await out.write(`${String(await content.body(now()))}${after}`);
  };
  return stream(c, write, async (error) => onError(error));
};

/** The console as an HTTP application. It answers only requests from the operator's own browser. */
export const createConsoleApp = (deps: ConsoleDeps): Hono<ConsoleEnv> => {
  const { stage, address, actions, now, onError } = deps;
  const links = linksFrom(address.token);
  const hasSandbox = actions.some(({ place }) => place === 'sandbox');
  const frame: Frame = { stage, links, hasSandbox, isReadOnly: !actions.some(({ changes }) => changes) };
  const tokens = createShortLived<string>(1_000, deps);
  const making: Making = { deps, frame, tokens, notices: createShortLived<Notice>(100, deps) };
  const prefix = `/${address.token}`;
  const app = new Hono<ConsoleEnv>();
  app.use('*', guardRequest(address));
  app.get(`${prefix}/assets/:name`, (c) => {
    const name = c.req.param('name');
    const type = assetTypes.get(name);
    if (type === undefined) return c.notFound();
    // It lies beside this module, and in the package beside the bundle.
    return c.body(readFileSync(new URL(name, import.meta.url), 'utf8'), 200, { 'content-type': type });
  });
  addLiveRoute(app, `${prefix}/live`, making);
  addForms(app, prefix, making);
  addStoryRoutes(app, prefix, deps);
  app.get(`${prefix}/*`, async (c) => {
    const { pathname, search } = new URL(c.req.url);
    const own = `${pathname.slice(prefix.length)}${search}`;
    const loading = loadPage(parsePagePath(own), making);
    const loaded = await Promise.race([loading, deps.sleep(frameAfterMs)]);
    const at = now();
    if (loaded === undefined) return sendFrameFirst(c, { own, loading }, making);
    const { title, status, body } = loaded;
    const live = status === undefined ? { live: own } : {};
    return c.html(framePage(frame, { title, body: body(at), now: at, ...live }), status ?? 200);
  });
  app.onError((error, c) => {
    onError(error);
    return c.text('The console failed. Its terminal shows the cause.\n', 500);
  });
  return app;
};
