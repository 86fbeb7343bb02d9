import { CliError } from '../../cli/terminal/errors.ts';
import type { Check } from './check.ts';
import { alarmNotifies, alarmRaised } from './check-alarms.ts';
import { foreignCaller, idempotentReplay, unsignedRefused } from './check-callers.ts';
import { consentFlow } from './check-consent.ts';
import { signingKeyRotation, webhookForged, webhookOversized, webhookReplayed } from './check-deliveries.ts';
import { asInTemplate, auditPasses, doctorPasses } from './check-deployed.ts';
import { line } from './check-line.ts';
import { coldStarts, costOfMillion, metricsArrive } from './check-metrics-and-cost.ts';
import {
  outcomesEncrypted,
  outcomesPlain,
  timeoutCorrected,
  webhookEarly,
  webhookLost,
} from './check-outcomes.ts';
import { functionPermissions } from './check-permissions.ts';
import { eraseForGood, resultsPresigned } from './check-results-and-erasure.ts';
import { requestForgotten, sealKeyAdministrator, sealKeyContext, sealKeyRoles } from './check-seal-key.ts';
import { startBusy, startRefused, startSilent } from './check-starts.ts';
import { eventBus, streamConsumer, streamRecords } from './check-stream.ts';

/** Every check of `npm run accept`, in the order of its table. */
export const checks: readonly Check[] = [
  outcomesPlain,
  outcomesEncrypted,
  webhookLost,
  webhookEarly,
  webhookForged,
  webhookReplayed,
  webhookOversized,
  signingKeyRotation,
  startBusy,
  startRefused,
  startSilent,
  timeoutCorrected,
  consentFlow,
  idempotentReplay,
  foreignCaller,
  unsignedRefused,
  resultsPresigned,
  eraseForGood,
  streamRecords,
  streamConsumer,
  eventBus,
  requestForgotten,
  sealKeyAdministrator,
  sealKeyRoles,
  sealKeyContext,
  functionPermissions,
  asInTemplate,
  line,
  alarmNotifies,
  alarmRaised,
  metricsArrive,
  coldStarts,
  costOfMillion,
  doctorPasses,
  auditPasses,
];

/** The checks that `--only` names, in the order of the table, or all, without the checks of `--skip`. Throws CliError for an unknown id. */
export const chooseChecks = (
  only: readonly string[] | undefined,
  skip: readonly string[] = [],
): readonly Check[] => {
  const unknown = [...(only ?? []), ...skip].filter((id) => !checks.some((check) => check.id === id));
  if (unknown.length > 0) {
    throw new CliError(
      `There is no check ${unknown.join(', ')}. The checks: ${checks.map(({ id }) => id).join(', ')}.`,
    );
  }
  return checks.filter(({ id }) => (only === undefined || only.includes(id)) && !skip.includes(id));
};
