import { parentPort, workerData } from 'node:worker_threads';
import { runShare, type Share } from './run-share.ts';

/** One worker of a campaign. Posts its progress, then its tally. */
const tally = await runShare(workerData as Share, (progress) => parentPort?.postMessage({ progress }));
parentPort?.postMessage({ tally });
