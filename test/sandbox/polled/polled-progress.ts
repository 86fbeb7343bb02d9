import type { PolledTask } from '../state.ts';

export type Progress = 'pending' | 'running' | 'ended';

export const progressAt = ({ runningAt, endsAt }: PolledTask, now: number): Progress => {
  if (endsAt !== null && now >= endsAt) return 'ended';
  return now < runningAt ? 'pending' : 'running';
};
