import { parentPort, workerData } from 'node:worker_threads';
import { campaign, type Share } from './campaign.ts';

/** One core's share of a campaign: tells its progress, then its tally. */
const tally = await campaign(workerData as Share, (progress) => parentPort?.postMessage({ progress }));
parentPort?.postMessage({ tally });
