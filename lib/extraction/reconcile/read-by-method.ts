import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import type { TaskReading } from '../../provider/tasks/read-task.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import { type Tokens, withSession } from '../../provider/tokens/tokens.ts';
import type { ConsentVariant } from '../record.ts';
import { findRequest, RequestDataGone } from '../request-data.ts';
import type { SealedTargetData } from '../sealed-request-data.ts';
import type { RequestStore, StoredRequest } from '../store.ts';
import { countReads, type GuardDeps, guardReads, type ReadTask, tokensFor } from './guard-reads.ts';
import { readingOfExtraction, readTaskWith } from './reading.ts';
import type { ReconcileCaller, ReconcileDeps } from './steps.ts';

/** What the reads of both methods are made of. The last two make one call each. */
export type ReadSources = {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly unsealTarget: (stored: StoredRequest) => Promise<SealedTargetData>;
  readonly sessions: Tokens;
  readonly taskTokens: TaskTokens;
  readonly readTask: (sessionToken: string, taskId: string, call: CallOptions) => Promise<TaskReading>;
  readonly readExtraction: (
    taskToken: string,
    taskId: string,
    call: CallOptions & { readonly variant: ConsentVariant },
  ) => Promise<ExtractionAnswer>;
};

/** `isLast`: the record closes for good after this read, and the breaker is open. */
type CallOptions = { readonly isLast: boolean };

/** The read of a record, in the way of its method. */
const readByMethod =
  (sources: ReadSources): ReadTask =>
  async (record, taskId, attempt) => {
    const call = { isLast: attempt.kind === 'last' };
    if (record.method !== 'consent') {
      return withSession(tokensFor(sources.sessions, attempt), (token) =>
        attempt.make(() => readTaskWith(() => sources.readTask(token, taskId, call))),
      );
    }
    const { variant } = record;
    const stored = await findRequest(record, sources);
    if (stored === undefined) throw new RequestDataGone();
    const { target } = await sources.unsealTarget(stored);
    return readingOfExtraction(
      await withSession(tokensFor(tokensOf(sources.taskTokens, target), attempt), (token) =>
        attempt.make(() => sources.readExtraction(token, taskId, { ...call, variant })),
      ),
    );
  };

/** The reads of one invocation: each is counted if it may end the process, and held while the breaker is open. */
export const readsFor = (
  caller: ReconcileCaller,
  deps: ReadSources & GuardDeps & Pick<ReconcileDeps, 'timings'>,
): ReconcileDeps['read'] => guardReads(countReads(readByMethod(deps), caller, deps), deps);
