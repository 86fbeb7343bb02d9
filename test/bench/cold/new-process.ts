import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

type Answered = {
  /** From the start of the process, with Node's own, until the handler's answer, in milliseconds. */
  readonly answering: number;
  readonly answer: unknown;
};

/** A script that loads a CommonJS `index.js` as Lambda does (UserFunction.js of its runtime interface client). */
export const load = (file: string): string => `
const since = performance.now();
const { handler } = require(${JSON.stringify(file)});
const loading = performance.now() - since;`;

/** The source of an invocation's context. */
export const context = `{
  functionName: 'bench', functionVersion: '1', memoryLimitInMB: '512', awsRequestId: 'bench',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:bench', getRemainingTimeInMillis: () => 100_000,
}`;

/** Runs a script in a new process of this Node. Returns what its last line has as JSON, after the function's log. */
export const runNode = async <Result>(
  script: string,
  env: NodeJS.ProcessEnv,
  options: readonly string[] = [],
): Promise<Result> => {
  const { stdout } = await promisify(execFile)(process.execPath, [...options, '--eval', script], { env });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Result;
};

/** Loads a file in a new process. Returns the milliseconds that it took. */
export const loadOnce = (file: string, environment: NodeJS.ProcessEnv): Promise<number> =>
  runNode(`${load(file)}console.log(loading)`, environment);

/** Loads a file in a new process and invokes its handler once. */
export const answerOnce = (file: string, event: object, environment: NodeJS.ProcessEnv): Promise<Answered> =>
  runNode(
    `${load(file)}
handler(${JSON.stringify(event)}, ${context}).then((answer) => {
  console.log(JSON.stringify({ answering: performance.now(), answer }));
  process.exit();
});`,
    environment,
  );
