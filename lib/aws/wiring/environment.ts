/** A function was deployed without a variable that it needs: a fault of `infra/`, told at cold start. */
export class MissingEnvironmentVariable extends Error {
  override readonly name = 'EnvironmentIncomplete';
}

/** A required environment variable. Throws EnvironmentIncomplete. */
export const requiredVariable = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new MissingEnvironmentVariable(`The environment variable ${name} is not set.`);
  }
  return value;
};

/**
 * What was asked for needs a setting that this deployment was not given, although it may be deployed without.
 * Answered 503: it will work once the stack is deployed with it.
 */
export class SettingMissing extends Error {
  override readonly name = 'SettingMissing';

  constructor(setting: string, options?: ErrorOptions) {
    super(`The setting ${setting} is not given, and consents need it. Deploy with -c ${setting}=….`, options);
  }
}

/** The environment variable that stands for an optional setting. Throws SettingMissing. */
export const optionalSetting = (name: string, setting: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new SettingMissing(setting);
  return value;
};
