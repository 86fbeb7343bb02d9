import { defined } from '../../defined.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { writeProgress } from '../progress.ts';
import { removeRequest } from '../request-data.ts';
import type { Write } from '../run.ts';
import type { ExtractionStore, RequestStore, StoredRequest } from '../store.ts';

type WriteDeps = {
  readonly extractions: ExtractionStore;
  readonly requests: RequestStore;
  readonly telemetry: Telemetry;
};

/**
 * How often a write is tried, each time with the retries of the SDK. If a write from the `STARTING` write on failed for good, the
 * taskId would be lost, or a start that was never made would end as `UNCONFIRMED`.
 */
const writeTries = 3;

const writeThrice = async <T>(
  what: string,
  write: () => Promise<T>,
  { telemetry }: WriteDeps,
): Promise<T> => {
  for (let left = writeTries - 1; left > 0; left -= 1) {
    try {
      return await write();
    } catch (error) {
      telemetry.failure(`${what} could not be written; retrying.`, error);
    }
  }
  return write();
};

/**
 * Puts the item of a request back. If that fails, the record still gets its taskId: without the item the task cannot be polled,
 * and without the taskId nobody would know that it runs.
 */
const putBack = async (item: StoredRequest, deps: WriteDeps): Promise<void> => {
  try {
    await writeThrice('The item of the request', () => deps.requests.put(item), deps);
  } catch (error) {
    const { extractionId } = item;
    deps.telemetry.failure('The item of the request could not be put back.', error, { extractionId });
  }
};

/**
 * Writes the changes of a start. A further try recognizes an earlier one that succeeded without an answer.
 *
 * A late start was settled as stale before its attempt could write the task, and the process that settled it removed the item of
 * the request, or is about to. The polls of a consent need it, so it is put back before the record is `RUNNING`. Once it has the
 * `taskId`, only a process that knows this task removes it. `needed`: the item of a consent.
 */
export const startWriter =
  (needed: StoredRequest | undefined, deps: WriteDeps): Write =>
  async (change, once, before) => {
    const { taskId } = change.set;
    const late = change.transition === 'markRunningLate' && needed && { ...needed, ...defined({ taskId }) };
    if (late) await putBack(late, deps);
    const outcome = await writeThrice('The record', () => writeProgress(change, once, before, deps), deps);
    if (late && outcome.kind === 'lost') await removeRequest(late, deps);
    return outcome;
  };
