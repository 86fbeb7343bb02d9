import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Call, Client, Session, TaskToken } from '../state.ts';

/** What the middlewares leave for the routes. */
export type SandboxEnv = {
  Bindings: HttpBindings;
  Variables: {
    /** The record of this call; routes add to it what they learn. */
    call: Call;
    body: string;
    /** Whose API key or session token it is. */
    client: Client;
    session: Session;
    taskToken: TaskToken;
    /** Tells the event log that it is known whose call this is. Once, however often it is called. */
    announce: () => void;
  };
};
export type SandboxContext = Context<SandboxEnv>;
