/** The settings that every deployment needs. */
export const required = { stage: 'prod', providerBaseUrl: 'https://provider.example' };
