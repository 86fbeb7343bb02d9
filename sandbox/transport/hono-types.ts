import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Call } from '../event-log.ts';
import type { Client, Session, TaskToken } from '../state-types.ts';

/** The variables that the middlewares set for the routes. */
export type SandboxEnv = {
  Bindings: HttpBindings;
  Variables: {
    /** The record of this call. Routes add to it. */
    call: Call;
    body: string;
    /** The client of the API key or session token. */
    client: Client;
    session: Session;
    taskToken: TaskToken;
    /** Appends the event `call-received`, once the call's username or owner is known. Only the first call counts. */
    reportReceived: () => void;
  };
};
export type SandboxContext = Context<SandboxEnv>;
