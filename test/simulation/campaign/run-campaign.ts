import { Worker } from 'node:worker_threads';
import type { Progress, Share } from './run-share.ts';
import { mergeTally, newTally, type Tally } from './tally.ts';

type Message = { readonly progress: Progress } | { readonly tally: Tally };

const runShare = (share: Share, report: (progress: Progress) => void): Promise<Tally> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: share });
    worker.on('message', (message: Message) => {
      if ('tally' in message) resolve(message.tally);
      else report(message.progress);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`A worker ended with ${code} and no tally.`)));
  });

/** Runs a campaign with so many workers, and returns their tallies as one. */
export const runCampaign = async (
  workers: number,
  shareOf: Omit<Share, 'worker' | 'workers'>,
  report: (progress: Progress) => void,
): Promise<Tally> => {
  const shares = Array.from({ length: workers }, (_, worker) => ({ ...shareOf, worker, workers }));
  const merged = newTally();
  for (const tally of await Promise.all(shares.map((share) => runShare(share, report)))) {
    mergeTally(merged, tally);
  }
  return merged;
};
