type Outputs = Readonly<Record<string, string>>;

/** What to do after `npm run synth`. `template` is the path of the template, and `stage` absent where none was named. */
export const stepsAfterSynth = (template: string, stage?: string): readonly string[] => [
  `The template is ${template}. Nothing was deployed.`,
  'Next:',
  ...numbered([
    ...(stage === undefined
      ? [
          'Put the settings of a stage into stages/<stage>.json: at least providerBaseUrl and alarmTopicArn (docs/settings.md).',
        ]
      : []),
    'Run npm run bootstrap, once per account and region.',
    `Run npm run deploy -- --stage ${stage ?? '<stage>'}.`,
  ]),
];

const numbered = (steps: readonly string[]): readonly string[] =>
  steps.map((step, index) => `${index + 1}. ${step}`);

/** The secrets of the provider's keys, each with the output that has the command to fill it. */
export const filledByPeople = {
  'provider-api-key': 'FillProviderApiKey',
  'webhook-signing-key': 'FillWebhookSigningKey',
} as const;

export type FilledByPeople = keyof typeof filledByPeople;

/** What to do after a deployment of a stack: all of it while a secret is empty. `outputs`: of the stack. */
export const stepsAfterDeploy = (
  stackName: string,
  outputs: Outputs,
  empty: readonly FilledByPeople[],
): readonly string[] => {
  const { FillProviderApiKey, FillWebhookSigningKey, WebhookUrl, CustomDomainTarget } = outputs;
  if (FillProviderApiKey === undefined || FillWebhookSigningKey === undefined) return [];
  const cosecha = `npm exec --no -- cosecha --stage ${stackName.replace(/^Cosecha-/, '')}`;
  const check = `Check everything, until it prints "All checks passed.": ${cosecha} doctor`;
  if (empty.length === 0) return [`${stackName} is deployed.`, check];
  const steps = [
    ...(CustomDomainTarget === undefined
      ? []
      : [`Create the DNS record of your domain: an alias of, or a CNAME for, ${CustomDomainTarget}`]),
    ...(empty.includes('provider-api-key')
      ? [`Fill the provider's API key. The command prompts for it:\n   ${FillProviderApiKey}`]
      : []),
    ...(empty.includes('webhook-signing-key')
      ? [`Fill the webhook signing key. The command prompts for it:\n   ${FillWebhookSigningKey}`]
      : []),
    `Give this address to the provider's support, and request the completion webhook:\n   ${WebhookUrl}`,
    check,
    `Allow your callers to invoke the API (docs/api.md), and request a first extraction: ${cosecha} start --help`,
  ];
  return [`${stackName} is deployed. Next:`, ...numbered(steps)];
};
