import type { Bounded } from '../aws/deployment.ts';
import type { CheckedDelivery } from '../aws/read-deliveries.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { type Found, failed, passed } from './finding.ts';

type Seen = {
  /** Of the last hour, the newest first. */
  readonly deliveries: Bounded<CheckedDelivery>;
  /** How many webhooks of the same hour did not come. Undefined: not known. */
  readonly missed: number | undefined;
};

/**
 * Fails where the refused deliveries seem to be of the provider: webhooks were missed in the same hour, or none was verified since the last
 * that was refused. Otherwise it says how many there were, as anybody may send a forged one.
 */
export const checkDeliveries = ({ deliveries, missed }: Seen, now: Date): Found => {
  const { items, complete } = deliveries;
  const refused = items.filter(({ verifiedBy }) => verifiedBy === undefined);
  const [last] = refused;
  const count = `${complete ? '' : 'at least '}${refused.length}`;
  if (last === undefined) return passed('deliveries: none of the last hour was refused as no key fits');
  const isVerifiedSince = items.some(({ at, verifiedBy }) => verifiedBy !== undefined && at > last.at);
  const ago = `the last ${formatSeconds(secondsSince(last.at, now))} ago`;
  const message = `deliveries: ${count} of the last hour refused, ${ago}, as no key fits`;
  if (isVerifiedSince && (missed ?? 0) === 0) {
    return passed(`${message}; warning: others were verified since, so somebody may forge them`);
  }
  const explanation = isVerifiedSince
    ? `${missed} webhooks did not come in this hour`
    : 'none was verified since';
  return failed(`${message}; ${explanation}`, 'Follow the entry signature-mismatch of docs/operations.md.');
};
