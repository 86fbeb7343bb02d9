import {
  DescribeRuleCommand,
  type EventBridgeClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge';

/** Reads a rule of the default bus. Undefined where there is none. */
export const readRule = async (client: EventBridgeClient, Name: string) => {
  try {
    const { State } = await client.send(new DescribeRuleCommand({ Name }));
    return { enabled: State === 'ENABLED' };
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};
