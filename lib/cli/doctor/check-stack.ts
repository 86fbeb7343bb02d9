import { type Finding, failed, passed, skipped } from './finding.ts';

/** Whether the last deployment of the stack went through. */
export const checkStack = (name: string, status: string): Finding => {
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return passed(`stack ${name} is ${status}`);
  if (status.endsWith('_IN_PROGRESS'))
    return skipped(`stack ${name} is ${status}: look again when it is done`);
  return failed(
    `stack ${name} is ${status}`,
    'Its last deployment failed: the events of the stack in CloudFormation say why. Deploy it again.',
  );
};
