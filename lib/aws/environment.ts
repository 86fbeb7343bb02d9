/** A function was deployed without a variable that it needs: a fault of `infra/`, told at cold start. */
export class EnvironmentIncomplete extends Error {
  override readonly name = 'EnvironmentIncomplete';
}

/** A required environment variable. Throws EnvironmentIncomplete. */
export const required = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new EnvironmentIncomplete(`The environment variable ${name} is not set.`);
  }
  return value;
};
