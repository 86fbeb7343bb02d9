import type { Extraction } from '#lib/extraction/record.ts';
import type { Invariant } from './invariant.ts';

/** Credentials are needed until the provider has answered the start. A target is needed for each poll. */
const needsRequest = ({ method, status, dueShard }: Extraction): boolean =>
  method === 'credentials' ? status === 'REQUESTED' || status === 'STARTING' : dueShard !== undefined;

export const requestItemKept: Invariant = {
  name: 'request-item-kept',
  rule: 'A record is created and reopened with the item of its request. The item is not removed while a start or a poll needs it.',
  needs: 'The items are not lost.',
  checks: {
    record: ({ before, after }, { requests, lostRequests }, premise) => {
      const isReopened = before?.dueShard === undefined && after.dueShard !== undefined;
      if (!isReopened || lostRequests.has(after.requestId)) return undefined;
      premise();
      return requests.has(after.requestId) || !needsRequest(after)
        ? undefined
        : `It is ${after.status} without the item of its request.`;
    },
    requestRemoved: ({ item }, { record }) =>
      record?.requestId === item.requestId && needsRequest(record)
        ? `The item of the request is removed while the record is ${record.status}.`
        : undefined,
  },
};

/** Once the provider has credentials, no reconcile removes the item. */
const isLeftToStartTask = ({ method, status }: Extraction): boolean =>
  method === 'credentials' && status !== 'NOT_STARTED' && status !== 'UNCONFIRMED';

export const requestItemForgotten: Invariant = {
  name: 'request-item-forgotten',
  rule: 'In the end no item of a request is left, except that of a consent that is TIMED_OUT, which a read may still correct.',
  needs:
    'Every call of the table succeeded, no process was ended, intake and what an operator invoked returned, and the execution succeeded. A start-task has not failed, if it is the one that removes the item. Otherwise the item expires.',
  checks: {
    end: (_fact, world, premise) => {
      const { requests, receivers, record, execution, readers } = world;
      if (!world.requestsUndisturbed || record === undefined || execution?.status !== 'SUCCEEDED') return;
      if (isLeftToStartTask(record) && !world.hasFinishedStart) return undefined;
      if (record.method === 'consent' && record.status === 'TIMED_OUT') return undefined;
      if (readers.some(({ byOperator, failedCalls }) => byOperator && failedCalls > 0)) return undefined;
      premise();
      const left = [...requests.keys()].find((requestId) => receivers.get(requestId)?.failedCalls === 0);
      return left === undefined ? undefined : `The item of ${left} is left.`;
    },
  },
};

export const adoptedRequestForgotten: Invariant = {
  name: 'adopted-request-forgotten',
  rule: 'The credentials of a task that Reconcile adopted, and that no start-task linked, are removed.',
  needs:
    'Every process that reconciled returned, and none of its calls failed. Each call of the table took effect once.',
  checks: {
    end: (_fact, { record, tasks, requests, requestCalls, readsUndisturbed }, premise) => {
      const { extractionId, callbackToken } = tasks.get(record?.taskId ?? '') ?? {};
      if (record === undefined || extractionId !== record.extractionId || callbackToken !== undefined)
        return undefined;
      if (!readsUndisturbed || requestCalls.made !== requestCalls.effects) return undefined;
      premise();
      return requests.has(record.requestId) ? 'The item of the request is left.' : undefined;
    },
  },
};

export const requestGoneForAReason: Invariant = {
  name: 'request-gone-for-a-reason',
  rule: 'Only if the item of its request was lost is an extraction not started or not read for that reason, and then its record says so.',
  needs: 'The second half: no delayed copy of a put restores the item.',
  checks: {
    record: ({ after }, { lostRequests }) =>
      [after.reason, after.collectionError].includes('request-data-gone') &&
      !lostRequests.has(after.requestId)
        ? `It is ${after.status} with request-data-gone, but the item was not lost.`
        : undefined,
    end: (_fact, { record, lostRequests, counted, readsUndisturbed }, premise) => {
      const { status, reason, collectionError, method, requestId = '' } = record ?? {};
      if (!counted.has('RequestDataGone')) return undefined;
      if (lostRequests.size === 0) return 'An item counts as lost that was not.';
      if (lostRequests.get(requestId) !== 'lost') return undefined;
      const isUnread = method === 'consent' && status === 'TIMED_OUT' && readsUndisturbed;
      if (status !== 'NOT_STARTED' && !isUnread) return undefined;
      // An operator ended it before a start gave it up.
      if (reason === 'cancelled' || reason === 'erased') return undefined;
      premise();
      return [reason, collectionError].includes('request-data-gone')
        ? undefined
        : `It ends as ${status} with ${reason ?? 'no reason'} and ${collectionError ?? 'no collectionError'}.`;
    },
  },
};
