/** What every deployment has to say. */
export const required = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
