import { parentPort, workerData } from 'node:worker_threads';
import { campaign, type Share } from './campaign.ts';

/** One worker of a campaign. Posts its progress, then its tally. */
const tally = await campaign(workerData as Share, (progress) => parentPort?.postMessage({ progress }));
parentPort?.postMessage({ tally });
