import type { Listener } from '../run-world.ts';
import type { World } from '../world/world.ts';

type Line = { readonly at: number; readonly what: string; readonly departs: string; status: string };

/** Records one schedule: when, who, what, and the status of the record afterwards. */
export const traced = (): { readonly listener: Listener; readonly text: (world: World) => string } => {
  const lines: Line[] = [];
  const statusOf = ({ record }: World): string =>
    record === undefined
      ? '–'
      : `${record.status}${record.dueShard === undefined ? ' (closed)' : ''}${record.collectedAt === undefined ? '' : ' (collected)'}`;
  const conclude = (world: World): void => {
    const last = lines.at(-1);
    if (last !== undefined && last.status === '') last.status = statusOf(world);
  };
  return {
    listener: {
      chosen: (world, step, index, options) => {
        conclude(world);
        const target = options.targets[index];
        const at = target !== undefined && 'at' in target ? (target.at as number) : world.kernel.now;
        lines.push({
          at: (Math.max(at, world.kernel.now) - world.startedAt) / 1_000,
          what: options.label(index),
          departs: index === 0 ? '' : `${step}.${index}`,
          status: '',
        });
      },
    },
    text: (world) => {
      conclude(world);
      return lines
        .map(({ at, what, departs, status }) =>
          [at.toFixed(3).padStart(9), departs === '' ? ' ' : '!', what.padEnd(64), status.padEnd(24), departs]
            .join(' ')
            .trimEnd(),
        )
        .join('\n');
    },
  };
};
