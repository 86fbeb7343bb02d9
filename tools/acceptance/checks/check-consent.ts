import * as v from 'valibot';
import { formatNationalId } from '../fake-provider/function/scenario.ts';
import { type Check, passed, skipped } from './check.ts';
import type { AcceptContext } from './context.ts';
import { expectOutcome, extract, isDone, readUntil, referencePrefix } from './extractions.ts';
import { Unmet } from './unmet.ts';

const sessionShape = v.object({ otpToken: v.string(), consentId: v.string() });
const consentShape = v.object({ id: v.string(), status: v.string() });
const revokedShape = v.object({ consentId: v.string(), status: v.string(), subStatus: v.string() });

/** The user authorizes the consent this long after its creation, so that both states are seen. */
const authorizesAfter = 4;

/**
 * How long the task takes, in seconds. On AWS it is polled more than 16 times, after which Lambda would stop a function that
 * may not invoke itself through a queue: the message would be a dead letter, which the check `doctor` reports. An emulator
 * has no such limit.
 */
const taskSeconds = { onAws: 60, onEmulator: 2 } as const;

const callFor =
  ({ api }: AcceptContext, target: string) =>
  async <Shape extends v.GenericSchema>(
    method: 'GET' | 'POST',
    path: string,
    expected: number,
    shape: Shape,
    request?: unknown,
  ): Promise<v.InferOutput<Shape>> => {
    const { status, body } = await api.call(method, path, { target, body: request });
    // A path without its id, which would be no help.
    const route = `${method} ${path}`;
    if (status !== expected) {
      throw new Unmet(
        `${route} was answered ${status}, not ${expected}. The log of manage-consents has the cause.`,
      );
    }
    const parsed = v.safeParse(shape, JSON.parse(body));
    if (parsed.success) return parsed.output;
    throw new Unmet(`${route} was answered ${status} with another body than docs/api.md describes.`);
  };

/** From the session to the revocation, as a client goes through it. */
export const consentFlow: Check = {
  id: 'consent-flow',
  title: 'A consent is created, authorized, used for an extraction, and revoked',
  turn: 'together',
  seconds: ({ settings }) => settings.timings.deadline + 60,
  run: async (context) => {
    const { variables } = await context.stack.functionNamed('manage-consents');
    if (variables.PROVIDER_CLIENT_ID === undefined || variables.WIDGET_CONFIG_ID === undefined) {
      return skipped('not configured: the settings providerClientId and widgetConfigId are missing');
    }
    const endsAfter = context.deployment.isEmulated ? taskSeconds.onEmulator : taskSeconds.onAws;
    const authorizedAt = Math.floor(context.now().getTime() / 1_000) + authorizesAfter;
    const target = formatNationalId({ outcome: 'COMPLETED', endsAfter, authorizedAt });
    const call = callFor(context, target);
    const request = { products: ['product-balance'] };
    const { consentId } = await call('POST', '/consent-sessions', 201, sessionShape, request);
    const path = `/consents/${consentId}`;
    context.waitFor(`consent ${consentId} to be ACTIVE`);
    let seen = await call('GET', path, 200, consentShape);
    while (seen.status !== 'ACTIVE') {
      await context.sleep(1_000);
      seen = await call('GET', path, 200, consentShape);
    }
    const extractionId = await extract(context, {
      method: 'consent',
      product: 'product-balance',
      consentId,
      target,
      reference: `${referencePrefix}consent-flow`,
    });
    const done = await readUntil(context, extractionId, 'COMPLETED under the consent', isDone);
    expectOutcome(done, 'COMPLETED', 'reconcile', 'The log of reconcile-extraction shows its polls.');
    const revoked = await call('POST', `${path}/revoke`, 200, revokedShape);
    if (revoked.subStatus !== 'REVOKED') {
      throw new Unmet(`The revoked consent ${consentId} is ${revoked.status}, ${revoked.subStatus}.`);
    }
    return passed(`consent ${consentId}: ACTIVE, extraction ${extractionId}, then REVOKED`);
  },
};
