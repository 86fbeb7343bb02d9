import { contracts } from '../../infra/lambda/contracts.ts';
import { injectedFailures, type Service, tries } from '../e2e/injected-failures/failures-of-aws-calls.ts';
import type { FaultRule } from '../e2e/injected-failures/fault-rule.ts';
import type { Random } from '../support/data/random.ts';

/** A text in the event of each function that the soak makes run. reconcile-extraction has two invokers. */
const invocations = [
  ['request-extraction', '"POST /extractions"'],
  ['get-extraction', '"GET /extractions/{extractionId}"'],
  ['start-task', '"callbackToken"'],
  ['dispatch-starts', '"trigger":"schedule"'],
  ['receive-webhook', '"POST /webhooks/provider"'],
  ['reconcile-extraction', '"aws:sqs"'],
  ['reconcile-extraction', '"trigger":"machine"'],
  ['sweep-extractions', '"trigger":"sweep"'],
] as const;

/** The other actions of contracts are of Lambda itself, or only sign an address. */
const services: readonly (readonly [action: RegExp, service: Service])[] = [
  [/Item\b|^Query/, 'dynamodb'],
  [/^SendMessage$/, 'sqs'],
  [/^SendTask|Execution$/, 'stepFunctions'],
  [/^Encrypt|^Decrypt/, 'kms'],
  [/^GetSecretValue$/, 'secretsManager'],
  [/^PutObject$/, 's3'],
];

/** Every call that a contract allows, so that a new one fails without a change here. */
const calls = invocations.flatMap(([name, event]) =>
  Object.values(contracts[name] as Readonly<Record<string, readonly string[]>>)
    .flat()
    .flatMap((action) => {
      const service = services.find(([pattern]) => pattern.test(action))?.[1];
      if (service === undefined) return [];
      const writes = /^(Put|Update|Delete|Send|Start)/.test(action);
      const operation = service === 's3' ? 'PUT /' : `.${action.split(' ')[0]}`;
      return [{ service, writes, operation, during: [event] }];
    }),
);

/** One call of one function fails, or the process of the function is killed at it. */
export const drawFailure = (random: Random): FaultRule => {
  const { service, writes, operation, during } = random.pick(calls);
  return { operation, during, ...random.pick(injectedFailures({ service, writes }, tries.patient)) };
};
