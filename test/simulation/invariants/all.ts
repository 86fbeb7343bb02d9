import { allowedTransitions } from './allowed-transitions.ts';
import { breakerRespected } from './breaker-respected.ts';
import { claimedBeforeSent } from './claimed-before-sent.ts';
import { closedAfterARead } from './closed-after-a-read.ts';
import { correctionFound } from './correction-found.ts';
import { countedOnce } from './counted-once.ts';
import { deliveryNotLost } from './delivery-not-lost.ts';
import { dueMessageContinued } from './due-message-continued.ts';
import { finalStands } from './final-stands.ts';
import type { Invariant } from './invariant.ts';
import { lastReadBeforeTimedOut } from './last-read-before-timed-out.ts';
import { newerLeftAlone } from './newer-left-alone.ts';
import { notStartedMeansNoTask } from './not-started-means-no-task.ts';
import { nothingSealedShown } from './nothing-sealed-shown.ts';
import { oneChainOfMessages } from './one-chain-of-messages.ts';
import { oneStartCall } from './one-start-call.ts';
import { openWhileUnfinished } from './open-while-unfinished.ts';
import { othersTaskDisowned } from './others-task-disowned.ts';
import { outcomeStands } from './outcome-stands.ts';
import { oversizedOnce } from './oversized-once.ts';
import { queuedBeforeWoken } from './queued-before-woken.ts';
import { rejectedMeansNoTask } from './rejected-means-no-task.ts';
import { rendezvous } from './rendezvous.ts';
import { requestKept } from './request-kept.ts';
import { requestOfItsRecord } from './request-of-its-record.ts';
import { resultsCollected } from './results-collected.ts';
import { runningStartLeftAlone } from './running-start-left-alone.ts';
import { settledAndClosed } from './settled-and-closed.ts';
import { startInTime } from './start-in-time.ts';
import { startWindowUsed } from './start-window-used.ts';
import { startingWrittenBeforeCall } from './starting-written-before-call.ts';
import { statusIsTheProviders } from './status-is-the-providers.ts';
import { unconfirmedForAReason } from './unconfirmed-for-a-reason.ts';
import { unfinishedReadsCounted } from './unfinished-reads-counted.ts';
import { waitAnswered } from './wait-answered.ts';
import { waitsAsAsked } from './waits-as-asked.ts';
import { wakeNotLost } from './wake-not-lost.ts';
import { wokenAfterRecorded } from './woken-after-recorded.ts';

/** Every invariant. A finding names the first that is broken, so the more exact ones come first. */
export const invariants: readonly Invariant[] = [
  oneStartCall,
  requestOfItsRecord,
  startingWrittenBeforeCall,
  startInTime,
  runningStartLeftAlone,
  allowedTransitions,
  outcomeStands,
  finalStands,
  lastReadBeforeTimedOut,
  statusIsTheProviders,
  newerLeftAlone,
  openWhileUnfinished,
  nothingSealedShown,
  rendezvous,
  wokenAfterRecorded,
  wakeNotLost,
  waitAnswered,
  queuedBeforeWoken,
  claimedBeforeSent,
  oneChainOfMessages,
  dueMessageContinued,
  requestKept,
  settledAndClosed,
  startWindowUsed,
  notStartedMeansNoTask,
  rejectedMeansNoTask,
  unconfirmedForAReason,
  othersTaskDisowned,
  deliveryNotLost,
  unfinishedReadsCounted,
  closedAfterARead,
  resultsCollected,
  oversizedOnce,
  correctionFound,
  breakerRespected,
  waitsAsAsked,
  countedOnce,
];
