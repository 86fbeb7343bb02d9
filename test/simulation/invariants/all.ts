import { adviceFollows, noRepeatBesideATask, problemIsOfLastTry } from './advising.ts';
import { breakerRespected, pauseKeepsOpen, waitsAsAsked } from './holding.ts';
import type { Invariant } from './invariant.ts';
import {
  newerLeftAlone,
  nothingSealedShown,
  openWhileUnfinished,
  oversizedOnce,
  requestKept,
  resultsCollected,
  settledAndClosed,
  unfinishedReadsCounted,
} from './keeping.ts';
import { markedBeforeSettled, noStartOnceRefused } from './marking.ts';
import { deliveryNotLost, rendezvous, waitAnswered, wakeNotLost, wokenAfterRecorded } from './meeting.ts';
import { dueMessageContinued, leasedBeforeSent, oneChainOfMessages, queuedBeforeWoken } from './queueing.ts';
import { requestGoneForAReason, requestItemForgotten, requestItemKept } from './requests.ts';
import {
  allowedTransitions,
  closedAfterARead,
  correctionFound,
  countedOnce,
  finalStands,
  lastReadBeforeTimedOut,
  othersTaskDisowned,
  outcomeStands,
  statusIsTheProviders,
} from './settling.ts';
import {
  notStartedMeansNoTask,
  oneStartCall,
  rejectedMeansNoTask,
  requestOfItsRecord,
  runningStartLeftAlone,
  startInTime,
  startingWrittenBeforeCall,
  startWindowUsed,
  unconfirmedForAReason,
} from './starting.ts';

/** Every invariant. A finding names the first that is broken, so the more exact ones come first. */
export const invariants: readonly Invariant[] = [
  oneStartCall,
  noStartOnceRefused,
  markedBeforeSettled,
  requestOfItsRecord,
  requestItemKept,
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
  leasedBeforeSent,
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
  requestItemForgotten,
  requestGoneForAReason,
  breakerRespected,
  pauseKeepsOpen,
  waitsAsAsked,
  countedOnce,
  adviceFollows,
  noRepeatBesideATask,
  problemIsOfLastTry,
];
