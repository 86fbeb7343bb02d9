import { expect, test } from 'vitest';
import { pause } from '../../../../../lib/cli/commands/pause.ts';
import type { Context } from '../../../../../lib/cli/context.ts';

test('it changes nothing unless starts or reads are named', async () => {
  const context = { connect: () => Promise.reject(new Error('connected')) } as unknown as Context;
  await expect(pause({ reason: 'maintenance' }, context)).rejects.toThrow('Use --starts, --reads, or both.');
});
