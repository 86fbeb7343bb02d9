import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands in for `@aws-sdk/credential-provider-node`. Lambda always hands the role's credentials over in environment
 * variables (Lambda guide, "Defined runtime environment variables"), so the rest of that package's chain (SSO,
 * profiles, processes, web identity, container and instance metadata) is never reached. It would be 140 KB more of the
 * webhook's bundle, which has 220.
 */
export const defaultProvider = fromEnv;
