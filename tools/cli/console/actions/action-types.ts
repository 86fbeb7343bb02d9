import type { Extraction } from '../../../../lib/extraction/record.ts';
import type { PausableCalls } from '../../../../lib/shared-item/operator-settings.ts';

export type ActionResult = {
  readonly text: string;
  readonly extractionId?: string;
  /** The filter of the list that shows what it made. */
  readonly list?: Readonly<Record<string, string>>;
  /** A link for the operator alone. It is on the page that answers, and nowhere else. */
  readonly link?: { readonly url: string; readonly label: string };
};

/** What a form did. `id` is that of its action, whose button it stands beside on the page of the sandbox. */
export type Notice = { readonly id: string; readonly label: string } & (
  | { readonly kind: 'done'; readonly result: ActionResult }
  | { readonly kind: 'not-done'; readonly explanation: string }
);

export type ConsoleAction = {
  /** Part of its address, such as `reconcile`. */
  readonly id: string;
  readonly label: string;
  /** The page that offers it. On `extraction`, its subject is the extractionId; on `list`, the query of its filter; elsewhere it has none. */
  readonly place: 'extraction' | 'list' | 'health' | 'sandbox';
  /** What it does, in one or two sentences. The operator reads it before confirming. */
  readonly effect: string;
  /** What it is about now, such as how many. Throws as `run` does. */
  readonly describe?: (subject: string) => Promise<string>;
  /** Of pausing and resuming: which calls. A pause is offered unless they are paused, and the other while any are held. */
  readonly pausing?: { readonly calls: PausableCalls; readonly resumes: boolean };
  /** The heading that it is under, on the page of the sandbox. */
  readonly group?: string;
  /** Of the sandbox: it ends what the provider does wrong now, and is offered only then. */
  readonly endsFaults?: true;
  /** A text that it needs, such as the reason of a pause. */
  readonly input?: string;
  /** Credentials or national ids that it needs. They are not shown while they are entered, and may be long. */
  readonly secret?: string;
  /** It only reads, so that `--actions` need not allow it. */
  readonly onlyReads?: true;
  /** Whether it can do something for this extraction, such as a link to results that there are. On `list`, for one of them. Default: always. */
  readonly isFor?: (record: Extraction) => boolean;
  /** Throws CliError and the SDK's errors. */
  readonly run: (subject: string, input: string, secret?: string) => Promise<ActionResult>;
};

export type SandboxState = { readonly active: readonly string[] };
