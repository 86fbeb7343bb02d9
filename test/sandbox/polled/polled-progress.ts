import type { PolledTask } from '../state.ts';

export type Progress = 'pending' | 'running' | 'ended';

export function progressAt({ runningAt, endsAt }: PolledTask, now: number): Progress {
  if (endsAt !== null && now >= endsAt) return 'ended';
  return now < runningAt ? 'pending' : 'running';
}
