import { samples } from '../../assumptions.ts';

/** The level of a machine's log, as the template has it; without data, as ours is. */
export type MachineLogLevel = 'ALL' | 'ERROR' | 'FATAL' | 'OFF';

/** Of the events that our histories have, those that each level writes. */
const isLogged: Readonly<Record<MachineLogLevel, (type: string) => boolean>> = {
  ALL: () => true,
  ERROR: (type) => /(Failed|TimedOut|Aborted)$/.test(type),
  FATAL: (type) => /^Execution(Failed|TimedOut|Aborted)$/.test(type),
  OFF: () => false,
};

/**
 * What Step Functions writes into the machine's log for an event of a history, in bytes.
 * https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html ("Log levels", and its example of a line)
 */
export const machineLogBytes = (level: MachineLogLevel, type: string): number =>
  isLogged[level](type)
    ? Buffer.byteLength(
        JSON.stringify({
          id: '5',
          type,
          details: { resource: 'invoke', resourceType: 'lambda' },
          previous_event_id: '4',
          event_timestamp: '1767268800000',
          execution_arn: samples.executionArn,
          redrive_count: '0',
        }),
      )
    : 0;
