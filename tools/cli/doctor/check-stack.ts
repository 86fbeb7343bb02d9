import { type Finding, failed, passed, skipped } from './finding.ts';

/** Fails where the last deployment of the stack failed. */
export const checkStack = (name: string, status: string): Finding => {
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return passed(`stack ${name} is ${status}`);
  if (status.endsWith('_IN_PROGRESS')) {
    return skipped(`stack ${name} is ${status}; run doctor again when it is done`);
  }
  return failed(
    `stack ${name} is ${status}`,
    'Its last deployment failed. Its events in CloudFormation have the cause. Deploy it again.',
  );
};
