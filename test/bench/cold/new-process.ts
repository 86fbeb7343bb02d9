import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Milliseconds. */
export type Loaded = { readonly loading: number };
export type Answered = Loaded & {
  /** From the start of the process, with Node's own, until the handler's answer. */
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

const runNode = async (script: string, environment: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], { env: environment });
  // The function's log precedes it.
  return stdout.trimEnd().split('\n').at(-1) ?? '';
};

/** Loads a file in a new process of this Node. */
export const loadOnce = async (file: string, environment: NodeJS.ProcessEnv): Promise<Loaded> =>
  JSON.parse(await runNode(`${load(file)}console.log(JSON.stringify({ loading }))`, environment));

/** Loads a file in a new process and invokes its handler once. */
export const answerOnce = async (
  file: string,
  event: object,
  environment: NodeJS.ProcessEnv,
): Promise<Answered> =>
  JSON.parse(
    await runNode(
      `${load(file)}
handler(${JSON.stringify(event)}, ${context}).then((answer) => {
  console.log(JSON.stringify({ loading, answering: performance.now(), answer }));
  process.exit();
});`,
      environment,
    ),
  );
