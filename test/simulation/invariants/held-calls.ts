import type { World } from '../world/world.ts';
import type { Invariant } from './invariant.ts';

export const breakerRespected: Invariant = {
  name: 'breaker-respected',
  rule: 'No start call is made by a process that saw starts paused, or a breaker of its caller open, except by who has the turn.',
  needs: 'The process could read the state, and write it if it took the turn.',
  outlivesLoss: true,
  checks: {
    startCall: ({ by }, { breakersSeen, pausesSeen }, premise) => {
      const isPaused = pausesSeen.get(by)?.starts !== undefined;
      const { opened, groups } = breakersSeen.get(by) ?? { groups: [] };
      const turns = [opened?.failing, opened?.others, ...groups.map((group) => group.opened?.turn)].filter(
        (turn) => turn !== undefined,
      );
      if (!isPaused && turns.length === 0) return undefined;
      premise();
      const hasTurn = turns.some(({ holder }) => holder?.startsWith(`${by.name}/`) === true);
      return hasTurn && !isPaused
        ? undefined
        : `${by.name} makes a start call although it saw ${isPaused ? 'starts paused' : 'a breaker open'}.`;
    },
  },
};

export const pauseKeepsOpen: Invariant = {
  name: 'pause-keeps-open',
  rule: 'A record is closed without its outcome or results only by a process that saw that reads are not paused.',
  needs: 'The process could read the pauses, and nobody asked to erase the extraction.',
  outlivesLoss: true,
  checks: {
    record: ({ before, after, by }, { scenario, pausesSeen, erasing }, premise) => {
      if (scenario.breakers === undefined || by === undefined || by.failedCalls > 0) return undefined;
      if (erasing.isAskedFor(after)) return undefined;
      const isClosed = before?.dueShard !== undefined && after.dueShard === undefined;
      const { status, collectionError } = after;
      const isUnread =
        collectionError === undefined ? status === 'TIMED_OUT' : collectionError === 'InternalError';
      if (!isClosed || !isUnread) return undefined;
      premise();
      const seen = pausesSeen.get(by);
      if (seen === undefined) return `${by.name} closes the record without asking for pauses.`;
      return seen.reads === undefined ? undefined : `${by.name} closes the record although reads are paused.`;
    },
  },
};

const isTooEarly = ({ provider, kernel }: World): boolean => kernel.now < provider.busyUntil;

export const waitsAsAsked: Invariant = {
  name: 'waits-as-asked',
  rule: 'After a 429 with Retry-After, no other start call and no login for one is made before that time, also once the start window is over.',
  needs: 'The clocks agree.',
  checks: {
    startCall: (_fact, world, premise) => {
      if (world.provider.busyUntil === 0 || world.scenario.skew > 0) return undefined;
      premise();
      return isTooEarly(world) ? 'A start call is made before the time that the provider named.' : undefined;
    },
    logIn: ({ by }, world, premise) => {
      const isStart = by.lastSeen?.status === 'REQUESTED' && by.lastSeen.notBefore !== undefined;
      if (!isStart || world.scenario.skew > 0) return undefined;
      premise();
      return isTooEarly(world) ? `${by.name} logs in before the time that the provider named.` : undefined;
    },
  },
};
