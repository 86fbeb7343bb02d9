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
import { healthPage } from './pages/health-page.ts';
import { linePage } from './pages/line-page.ts';
import { listPage } from './pages/list-page.ts';
import { type Content, linksFrom, notFoundPage, type Page } from './pages/page-content-and-links.ts';
import { sandboxPage } from './pages/sandbox-page.ts';
import { statusLine } from './pages/status-line.ts';
import { type LiveDeps, sendLive } from './send-live-updates.ts';
import { readState } from './sources/read-state.ts';
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
  readonly onAction: (line: string) => void;
};

const assetTypes: ReadonlyMap<string, string> = new Map([
  ['console.css', 'text/css; charset=utf-8'],
  ['console.js', 'text/javascript; charset=utf-8'],
  ['console.svg', 'image/svg+xml'],
]);

/** Each open page reads from AWS every few seconds. */
const maxFollowers = 20;

type Loading = { readonly title: string; readonly load: (page: Page) => Promise<Content> };

const loadings: ReadonlyMap<string, Loading> = new Map([
  ['/', { title: 'Extractions', load: listPage }],
  ['/line', { title: 'Line', load: linePage }],
  ['/deliveries', { title: 'Deliveries', load: deliveriesPage }],
  ['/health', { title: 'Health', load: healthPage }],
  ['/sandbox', { title: 'Sandbox', load: sandboxPage }],
]);

/** A page's own path, such as `/extractions/0190…`. Only its secret prefix and its query are left out. */
const loadingOf = (path: string): Loading => {
  const [, extractionId] = /^\/extractions\/([0-9a-f-]{36})$/.exec(path) ?? [];
  const notFound: Loading = { title: 'Not found', load: async ({ links }) => notFoundPage(links) };
  return extractionId === undefined
    ? (loadings.get(path) ?? notFound)
    : { title: 'Extraction', load: (page) => extractionPage(extractionId, page) };
};

type Making = {
  readonly deps: ConsoleDeps;
  readonly frame: Frame;
  readonly tokens: ShortLived<string>;
  readonly notices: ShortLived<Notice>;
};

/** A text is the path and query of a page, or of none. So that none throws, it is not parsed as a URL. */
const pathOf = (own: string): string => own.split('?', 1)[0] ?? '';

/** A page with what is above each: who is in trouble, and what a form did. Pages and their live updates are the same. */
const loadPage = async (own: string, { deps, frame, notices, tokens }: Making): Promise<Content> => {
  const { links } = frame;
  const path = pathOf(own);
  const query = new URLSearchParams(own.slice(path.length));
  const state = await readState(deps.sources);
  const notice = notices.find(query.get('did'));
  const issueToken = (id: string) => tokens.keep(subjectOfToken({ id }, ''));
  const now = deps.now();
  const { load } = loadingOf(path);
  const content = await load({ ...deps, query, state, links, now, notice, issueToken });
  return {
    ...content,
    model: [state, notice, content.model],
    body: (at) =>
      html`${withWholeWords(html`${statusLine(state, content.ours ?? [], links, at)}${content.showsNotice === true ? '' : showNotice(notice, links)}${content.body(at)}`)}`,
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
    const load = () => loadPage(c.req.query('page') ?? '/', making);
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

const addForms = (app: Hono<ConsoleEnv>, path: string, { deps, frame, tokens, notices }: Making): void => {
  const { actions, onAction } = deps;
  const send = async (c: Context<ConsoleEnv>, title: string, body: Html) => {
    c.set('hasForm', true);
    const now = deps.now();
    const line = statusLine(await readState(deps.sources), [], frame.links, now);
    return c.html(framePage(frame, { title, body: html`${line}${body}`, now }));
  };
  addActionRoutes(app, path, { actions, tokens, notices, links: frame.links, onAction, send });
};

/** A page that takes longer, in milliseconds, sends its frame first, so that nobody looks at the page before. */
const frameAfterMs = 50;

/** The frame at once, and the content once it is read. The style sheet hides what says that it is being read. */
const sendFrameFirst = (
  c: Context<ConsoleEnv>,
  {
    own,
    live,
    loading,
  }: { readonly own: string; readonly live: string | undefined; readonly loading: Promise<Content> },
  { deps: { now, onError }, frame }: Making,
) => {
  const reading = '<p class="reading" role="status">Reading…</p>';
  const { title } = loadingOf(pathOf(own));
  c.header('content-type', 'text/html; charset=utf-8');
  const write = async (out: StreamingApi): Promise<void> => {
    const framed = String(await framePage(frame, { title, body: raw(reading), now: now(), live }));
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
  const frame: Frame = { stage, links, hasSandbox, isReadOnly: actions.every(({ onlyReads }) => onlyReads) };
  const tokens = createShortLived<string>(1_000, now);
  const making: Making = { deps, frame, tokens, notices: createShortLived<Notice>(100, now) };
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
  addForms(app, `${prefix}/actions/:action`, making);
  addStoryRoutes(app, prefix, deps);
  app.get(`${prefix}/*`, async (c) => {
    const { pathname, search } = new URL(c.req.url);
    const own = `${pathname.slice(prefix.length)}${search}`;
    const loading = loadPage(own, making);
    // A new version would take the forms of the sandbox from under the operator's hands.
    const hasForm = pathOf(own) === '/sandbox';
    if (hasForm) c.set('hasForm', true);
    const live = hasForm ? undefined : own;
    const loaded = await Promise.race([loading, deps.sleep(frameAfterMs)]);
    if (loaded === undefined) return sendFrameFirst(c, { own, live, loading }, making);
    const { title, status, body } = loaded;
    const at = now();
    const page = { title, body: body(at), now: at, live: status === undefined ? live : undefined };
    return c.html(framePage(frame, page), status ?? 200);
  });
  app.onError((error, c) => {
    onError(error);
    return c.text('The console failed. Its terminal shows the cause.\n', 500);
  });
  return app;
};
