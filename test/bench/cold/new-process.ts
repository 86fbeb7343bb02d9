import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Answered = {
  /** From the start of the process, with Node's own, until the handler's answer, in milliseconds. */
  readonly answering: number;
  readonly answer: unknown;
};

/** Loads a CommonJS `index.js` as Lambda does (UserFunction.js of its runtime interface client). */
const load = (file: string): string => `
const since = performance.now();
const { handler } = require(${JSON.stringify(file)});
const loading = performance.now() - since;`;

const context = `{
  functionName: 'bench', functionVersion: '1', memoryLimitInMB: '512', awsRequestId: 'bench',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:bench', getRemainingTimeInMillis: () => 10_000,
}`;

/** Runs a script in a new process of this Node. Returns what its last line has as JSON, after the function's log. */
const runNode = async <Result>(script: string, environment: NodeJS.ProcessEnv): Promise<Result> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], { env: environment });
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
