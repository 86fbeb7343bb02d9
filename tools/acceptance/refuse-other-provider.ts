import { stackNameOf } from '../../lib/aws/stage.ts';
import { CliError } from '../cli/terminal/errors.ts';
import { fakeProviderStackNameOf } from './settings.ts';

/**
 * Refuses a stage that was deployed without a fake provider, as the run would destroy its data. The stack of the fake provider
 * is created before that of Cosecha, and deleted after it. `describe` returns undefined where there is no such stack.
 *
 * @throws {CliError}
 */
export const refuseOtherProvider = async (
  stage: string,
  describe: (stackName: string) => Promise<unknown>,
): Promise<void> => {
  const name = stackNameOf(stage);
  const [cosecha, fakeProvider] = await Promise.all([name, fakeProviderStackNameOf(stage)].map(describe));
  if (cosecha === undefined || fakeProvider !== undefined) return;
  throw new CliError(
    `${name} was deployed without a fake provider, so it may hold data. Nothing was done. Name another stage: npm run accept -- -c stage=accept-<name>`,
  );
};
