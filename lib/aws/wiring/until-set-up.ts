import { ProviderUnauthorized } from '../../provider/transport/errors.ts';
import { SecretNotFilled } from '../read-secret.ts';
import { SettingMissing } from './environment.ts';

/**
 * A secret that is not filled yet, or a setting that is not given, is to the start of an extraction an API key
 * that the provider would not take: retried while the start window lasts.
 */
export const untilSetUp = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof SecretNotFilled || error instanceof SettingMissing)) throw error;
    throw new ProviderUnauthorized(error.message, { cause: error });
  }
};
