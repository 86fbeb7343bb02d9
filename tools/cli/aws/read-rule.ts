import {
  DescribeRuleCommand,
  type EventBridgeClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-eventbridge';
import { defined } from '../../../lib/defined.ts';

/** Reads a rule by its name, with `bus|` before it where its bus is not the default one. Undefined where there is none. */
export const readRule = async (client: EventBridgeClient, id: string) => {
  const [Name = '', EventBusName] = id.split('|').toReversed();
  try {
    const { State } = await client.send(new DescribeRuleCommand(defined({ Name, EventBusName })));
    return { enabled: State === 'ENABLED' };
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};
