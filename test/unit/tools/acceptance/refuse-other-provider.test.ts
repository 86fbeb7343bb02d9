import { expect, test } from 'vitest';
import { refuseOtherProvider } from '../../../../tools/acceptance/refuse-other-provider.ts';

/** Where only these stacks exist. */
const refuse = (...stacks: readonly string[]) =>
  refuseOtherProvider('accept', async (name) =>
    stacks.includes(name) ? { status: 'CREATE_COMPLETE' } : undefined,
  );

test('a stage that was deployed without a fake provider is refused, as it may hold data', async () => {
  await expect(refuse('Cosecha-accept')).rejects.toThrow(
    'Cosecha-accept was deployed without a fake provider',
  );
});

test('a new stage, a kept one, and one whose deployment failed are not', async () => {
  await refuse();
  await refuse('Cosecha-accept', 'Cosecha-accept-fake-provider', 'Cosecha-accept-readers');
  await refuse('Cosecha-accept-fake-provider');
});
