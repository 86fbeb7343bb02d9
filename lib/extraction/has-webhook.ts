import type { Extraction } from './record.ts';

/**
 * Whether a webhook tells of the task's end: "The only event is the v2 task completion webhook" ("Events"). Of
 * any other the poll does, so that nobody waits for a delivery or looks for one in `Tasks`.
 */
export const hasWebhook = (record: Extraction): boolean => record.method === 'credentials';
