import { expect, test } from 'vitest';
import type { Context } from '../../../../../tools/cli/commands/context.ts';
import { pause } from '../../../../../tools/cli/commands/pause.ts';

test('it changes nothing unless starts or reads are named', async () => {
  const context = { connect: () => Promise.reject(new Error('connected')) } as unknown as Context;
  await expect(pause({ reason: 'maintenance' }, context)).rejects.toThrow('Use --starts, --reads, or both.');
});
