import { createHmac, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { answerText, checkRequest, nationalIdField, textField } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';
import { type Tokens, withSession } from './session-tokens.ts';

const path = '/api/v1/token/task';

/** "Create Task Token". `target` is the national id of the natural person or the company. */
export type TaskTokenRequest = { readonly target: string; readonly clientId: string };

/** A Task Token and its user. It allows access only to that user's consents and authorized products. */
export type TaskToken = { readonly target: string; readonly taskToken: string };

const requestSchema = v.object({ target: nationalIdField, clientId: textField });
const answerSchema = v.object({ data: v.object({ taskToken: answerText }) });

/** Throws InvalidProviderRequest, ProviderUnauthorized for a wrong API key, and the other ProviderErrors. */
export const createTaskToken = async (
  connection: Connection,
  apiKey: string,
  request: TaskTokenRequest,
): Promise<TaskToken> => {
  checkRequest(requestSchema, request, path);
  const { data } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: { 'x-api-key': apiKey },
    body: request,
  });
  return { target: request.target, taskToken: data.taskToken };
};

/** Returns a Task Token for a user, and drops a token that the provider refused. */
export type TaskTokens = {
  current(target: string): Promise<string>;
  drop(target: string, token: string): void;
};

/** The Task Tokens of one user as `Tokens`. */
export const tokensOf = (taskTokens: TaskTokens, target: string): Tokens => ({
  current: () => taskTokens.current(target),
  drop: (token) => taskTokens.drop(target, token),
});

type Entry = {
  readonly creation: Promise<string>;
  readonly usableUntil: number;
  /** Absent until `creation` resolves. */
  token?: string;
};

/**
 * Caches each Task Token for `lifetimeMs` from its request. The provider's lifetime is "not shown" ("Limits"), so keep
 * this one short and drop a token at its first 401. Concurrent calls for one user share a creation, and a failed
 * creation is not cached. `current` throws what `create` throws.
 */
export const cacheTaskTokens = (options: {
  readonly create: (target: string) => Promise<string>;
  readonly lifetimeMs: number;
  readonly now: () => Date;
}): TaskTokens => {
  const entries = new Map<string, Entry>();
  // The map's keys are HMACs, and their key never leaves this closure. A target is a national id, and there are so few that a plain hash
  // would not hide one.
  const key = randomBytes(32);
  const nameOf = (target: string): string => createHmac('sha256', key).update(target).digest('base64');

  /** Removes the expired tokens of all users, because a user may never return. */
  const forgetExpired = (now: number): void => {
    for (const [name, { usableUntil }] of entries) if (now >= usableUntil) entries.delete(name);
  };

  const create = (name: string, target: string, now: number): Promise<string> => {
    const creation = options.create(target);
    const entry: Entry = { creation, usableUntil: now + options.lifetimeMs };
    entries.set(name, entry);
    creation.then(
      (token) => {
        entry.token = token;
      },
      () => {
        if (entries.get(name) === entry) entries.delete(name);
      },
    );
    return creation;
  };

  return {
    current: (target) => {
      const now = options.now().getTime();
      forgetExpired(now);
      const name = nameOf(target);
      return entries.get(name)?.creation ?? create(name, target, now);
    },
    drop: (target, token) => {
      const name = nameOf(target);
      if (entries.get(name)?.token === token) entries.delete(name);
    },
  };
};

/** As `withSession`, with the Task Token of a user. */
export const withTaskToken = <T>(
  tokens: TaskTokens,
  target: string,
  call: (taskToken: string) => Promise<T>,
): Promise<T> => withSession(tokensOf(tokens, target), call);
