import type { Task } from '#lib/extraction/store.ts';
import { lifeOf } from '../world/settings.ts';
import { theExtraction } from '../world/the-extraction.ts';
import type { Invariant } from './invariant.ts';

/** Tokens are numbered in the order of their creation. */
const ageOf = ({ callbackToken }: Task): number => Number(callbackToken?.split('-').at(-1) ?? 0);

export const rendezvous: Invariant = {
  name: 'rendezvous',
  rule: 'In Tasks, the first status and the first extraction stay, and an older token never replaces a newer one.',
  checks: {
    taskItem: ({ before, after }, _world, premise) => {
      if (before === undefined || after.isErased === true) return undefined;
      premise();
      if (before.taskStatus !== undefined && after.taskStatus !== before.taskStatus) {
        return 'A status was replaced.';
      }
      if (before.extractionId !== undefined && after.extractionId !== before.extractionId) {
        return 'A link was replaced.';
      }
      return ageOf(after) < ageOf(before) ? 'An older token replaced a newer one.' : undefined;
    },
  },
};

export const wokenAfterRecorded: Invariant = {
  name: 'woken-after-recorded',
  rule: 'When a webhook wakes the machine, the record already has its outcome.',
  checks: {
    wake: ({ from }, { record }, premise) => {
      if (from !== 'webhook') return undefined;
      premise();
      return record?.settledAt === undefined
        ? `The machine is woken while the record is ${record?.status}.`
        : undefined;
    },
  },
};

export const wakeNotLost: Invariant = {
  name: 'wake-not-lost',
  rule: 'The machine does not wait until its timeout if start-task stored its callback token and a delivery was acknowledged.',
  checks: {
    waitedOut: ({ token }, world, premise) => {
      premise();
      const { record } = world;
      const task = world.tasks.get(record?.taskId ?? '');
      const linked = task?.callbackToken === token && world.linked.has(token);
      return linked && world.acknowledged.has(task.taskId)
        ? 'The token was stored and the delivery acknowledged, but the machine was not woken.'
        : undefined;
    },
  },
};

export const waitAnswered: Invariant = {
  name: 'wait-answered',
  rule: 'A start-task that returns has stored its callback token or answered it, so that the machine does not wait in vain. If the provider sends no webhooks, it answers it.',
  checks: {
    waitedOut: ({ token }, world, premise) => {
      if (!world.returned.has(token)) return undefined;
      premise();
      if (world.record?.withoutWebhook === true)
        return 'start-task returned, and the machine waited for no webhook.';
      const isStored = [...world.tasks.values()].some(({ callbackToken }) => callbackToken === token);
      return isStored ? undefined : 'start-task returned, but its token was neither stored nor answered.';
    },
  },
};

export const pollNotLost: Invariant = {
  name: 'poll-not-lost',
  rule: 'The machine waits for the answer of a poll for no longer than reconcile-extraction may run and ten seconds.',
  outlivesLoss: true,
  checks: {
    pollOver: ({ seconds }, _world, premise) => {
      premise();
      // Clocks that were read meanwhile have moved the time by milliseconds.
      return seconds < lifeOf.reconcile + 11
        ? undefined
        : `The machine waited ${Math.round(seconds)} s for the answer of one poll.`;
    },
  },
};

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  rule: 'The record ends with the final status of every delivery that was answered with 2xx, or StatusDisagreement was counted. The only exception is an orphan delivery for a task whose extraction ends as UNCONFIRMED, and it is counted.',
  checks: {
    end: (_fact, world, premise) => {
      for (const [taskId, { linked }] of world.acknowledged) {
        if (world.provider.tasks.get(taskId)?.extractionId !== theExtraction) continue;
        premise();
        const counted = world.counted.has('UnlinkedDelivery');
        if (!linked && !counted) return 'An orphan delivery was not counted.';
        const { record } = world;
        const task = world.provider.tasks.get(taskId);
        if (!linked && record?.status === 'UNCONFIRMED') continue;
        const stands = record?.status === task?.status || world.counted.has('StatusDisagreement');
        if (record?.taskId === taskId && stands) continue;
        return `${task?.status} was acknowledged, and the record is ${record?.status}.`;
      }
      return undefined;
    },
  },
};
