import { NotConfigured } from '../../not-configured.ts';

/** `infra/` deployed a function without a variable that it needs. Thrown at cold start. */
export class MissingEnvironmentVariable extends Error {
  override readonly name = 'MissingEnvironmentVariable';
}

const variable = (name: string): string | undefined => process.env[name] || undefined;

/** Returns an environment variable. Throws MissingEnvironmentVariable if it is not set or empty. */
export const requiredVariable = (name: string): string => {
  const value = variable(name);
  if (value === undefined) {
    throw new MissingEnvironmentVariable(`The environment variable ${name} is not set.`);
  }
  return value;
};

/** Returns the environment variable of an optional setting. Throws NotConfigured if the setting is not set. */
export const optionalSetting = (name: string, setting: string): string => {
  const value = variable(name);
  if (value === undefined) throw new NotConfigured('setting', setting);
  return value;
};
