type Outputs = Readonly<Record<string, string>>;

/** What to do after `npm run synth`. `template` is the path of the template. */
export const stepsAfterSynth = (template: string): readonly string[] => [
  `The template is ${template}. Nothing was deployed.`,
  'Next:',
  '1. Put your settings into context of cdk.json: at least stage, providerBaseUrl and alarmTopicArn (docs/settings.md).',
  '2. Run npm run bootstrap, once per account and region.',
  '3. Run npm run deploy.',
];

/** What to do after the first deployment of a stack. `outputs` are those of the stack. */
export const stepsAfterDeploy = (stackName: string, outputs: Outputs): readonly string[] => {
  const { FillProviderApiKey, FillWebhookSigningKey, WebhookUrl, CustomDomainTarget } = outputs;
  if (FillProviderApiKey === undefined || FillWebhookSigningKey === undefined) return [];
  const cosecha = `npm exec --no -- cosecha --stage ${stackName.replace(/^Cosecha-/, '')}`;
  const steps = [
    ...(CustomDomainTarget === undefined
      ? []
      : [`Create the DNS record of your domain: an alias of, or a CNAME for, ${CustomDomainTarget}`]),
    `Fill the provider's API key. The command prompts for it:\n   ${FillProviderApiKey}`,
    `Fill the webhook signing key in the same way:\n   ${FillWebhookSigningKey}`,
    `Give this address to the provider's support, and request the completion webhook:\n   ${WebhookUrl}`,
    `Check everything, until it prints "All checks passed.": ${cosecha} doctor`,
    `Allow your callers to invoke the API (docs/api.md), and request a first extraction: ${cosecha} start --help`,
  ];
  return [
    `${stackName} is deployed. After a first deployment:`,
    ...steps.map((step, index) => `${index + 1}. ${step}`),
  ];
};
