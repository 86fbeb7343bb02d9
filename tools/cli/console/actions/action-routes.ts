import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { validate as isUuid } from 'uuid';
import type { Html } from '../format-for-page.ts';
import type { ConsoleEnv } from '../guard-request.ts';
import { confirmPage, maxInput, pageOfAction } from '../pages/action-pages.ts';
import { focusOn, type Links } from '../pages/page-content-and-links.ts';
import { isFiltered, parseFilter } from '../sources/select-extractions.ts';
import { readPart } from '../sources/sources.ts';
import type { ShortLived } from '../values-by-random-id.ts';
import type { ConsoleAction, Notice } from './action-types.ts';

type ActionDeps = {
  readonly actions: readonly ConsoleAction[];
  /** Tokens that a form carries: each confirms one action on one subject, once. */
  readonly tokens: ShortLived<string>;
  /** What a form did, until the page after it names the notice. */
  readonly notices: ShortLived<Notice>;
  readonly links: Links;
  /** Reports on the terminal what was done, and never a link. */
  readonly onAction: (line: string) => void;
  readonly send: (c: Context<ConsoleEnv>, title: string, body: Html) => Response | Promise<Response>;
};

/** The subject of a form covers the action too, so that a token of one cannot confirm the other. */
export const subjectOfToken = ({ id }: Pick<ConsoleAction, 'id'>, subject: string): string =>
  `${id} ${subject}`;

const isSubject = ({ place }: ConsoleAction, subject: string): boolean => {
  if (place === 'list') return isFiltered(parseFilter(new URLSearchParams(subject)));
  return place === 'extraction' ? isUuid(subject) : subject === '';
};

/** Runs a confirmed action. An expected failure is a sentence; a defect is thrown. */
const runAction = async (
  action: ConsoleAction,
  subject: string,
  { input, secret }: { readonly input: string; readonly secret: string },
): Promise<Notice> => {
  const { id, label } = action;
  const part = await readPart(() => action.run(subject, input, secret));
  return part.kind === 'read'
    ? { kind: 'done', id, label, result: part.value }
    : { kind: 'not-done', id, label, explanation: part.explanation };
};

/** Adds the confirmation page of each action, and its form. A form acts once, and only with the token of its page. */
export const addActionRoutes = (app: Hono<ConsoleEnv>, path: string, deps: ActionDeps): void => {
  const { tokens, notices, links, send, onAction } = deps;
  const find = (id: string, subject: string): ConsoleAction | undefined =>
    deps.actions.find((action) => action.id === id && isSubject(action, subject));
  const notFound = (c: Context<ConsoleEnv>) =>
    c.text('There is no such action. Without --actions, the console only reads.\n', 404);

  app.get(path, async (c) => {
    const subject = c.req.query('subject') ?? '';
    const action = find(c.req.param('action') ?? '', subject);
    if (action === undefined) return notFound(c);
    const token = tokens.keep(subjectOfToken(action, subject));
    // Where that cannot be read, it may be done nevertheless.
    const part = await readPart(async () => action.describe?.(subject));
    const about = part.kind === 'read' ? part.value : part.explanation;
    return send(c, action.label, confirmPage(action, { subject, about, token }, links));
  });

  app.post(path, bodyLimit({ maxSize: 65_536 }), async (c) => {
    const form = await c.req.parseBody();
    const field = (name: string): string => (typeof form[name] === 'string' ? form[name] : '');
    const subject = field('subject');
    const action = find(c.req.param('action') ?? '', subject);
    if (action === undefined) return notFound(c);
    const { id, label } = action;
    /** Back to the page that offered it, by a GET: reloading that one repeats nothing. */
    const returnWith = (notice: Notice) => {
      const page = pageOfAction(action, subject, links);
      const did = `${page.includes('?') ? '&' : '?'}did=${notices.keep(notice)}`;
      return c.redirect(`${page}${did}${focusOn.notice}`, 303);
    };
    if (tokens.take(field('token')) !== subjectOfToken(action, subject)) {
      const explanation =
        'This form was sent before, or is older than ten minutes. Nothing was done. Open it again.';
      return returnWith({ kind: 'not-done', id, label, explanation });
    }
    // A credential that is cut off would be a wrong one.
    const entered = { input: field('input').trim().slice(0, maxInput), secret: field('secret').trim() };
    const missing = (['input', 'secret'] as const).find(
      (name) => action[name] !== undefined && entered[name] === '',
    );
    if (missing !== undefined) {
      return returnWith({ kind: 'not-done', id, label, explanation: `${action[missing]} is missing.` });
    }
    const notice = await runAction(action, subject, entered);
    onAction(
      [action.id, subject, notice.kind === 'done' ? 'done' : 'failed']
        .filter((part) => part !== '')
        .join(' '),
    );
    return returnWith(notice);
  });
};
