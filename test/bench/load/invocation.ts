import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One request to AWS, as a function made it. */
export type Call = {
  /** `Extractions UpdateItem`, `open Query`, `KMS Encrypt`. */
  readonly operation: string;
  /** What DynamoDB says that it consumed, indexes included; 0 for other services. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Of the answer's body: all that the function learns from the call. */
  readonly answerBytes: number;
};

/** One invocation of a function in the deployment, written down by its own process (record-invocations.ts). */
export type Invocation = {
  readonly functionName: string;
  /** Of `reconcile-extraction`: `machine`, `sweep` or what else woke it. */
  readonly trigger?: string;
  /** The first of its process, which makes connections and reads secrets. */
  readonly cold: boolean;
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly calls: readonly Call[];
};

/** What the lines of one process say. The last line may be half written yet. */
export const parseInvocations = (text: string): readonly Invocation[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Invocation);

/** Everything that has ended since then, from the files of all processes. */
export const invocationsSince = (directory: string, beganAt: number): readonly Invocation[] =>
  readdirSync(directory)
    .flatMap((file) => parseInvocations(readFileSync(join(directory, file), 'utf8')))
    .filter((invocation) => invocation.beganAt >= beganAt);
