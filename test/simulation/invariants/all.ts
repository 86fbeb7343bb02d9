import * as advice from './advice.ts';
import * as collectingAndClosing from './collecting-and-closing.ts';
import * as erasing from './erasing.ts';
import * as heldCalls from './held-calls.ts';
import type { Invariant } from './invariant.ts';
import * as queueMessages from './queue-messages.ts';
import * as refusedCredentials from './refused-credentials.ts';
import * as rendezvous from './rendezvous.ts';
import * as requestItems from './request-items.ts';
import * as startCalls from './start-calls.ts';
import * as startsInLine from './starts-in-line.ts';
import * as transitionsAndOutcomes from './transitions-and-outcomes.ts';

/** Every invariant. A finding names the first that is broken, so the more exact ones come first. */
export const invariants: readonly Invariant[] = [
  startCalls.oneStartCall,
  refusedCredentials.noStartOnceRefused,
  refusedCredentials.markedBeforeSettled,
  startCalls.requestOfItsRecord,
  erasing.erasingKeepsOut,
  erasing.erasingStoresNothing,
  erasing.erasingIsMarked,
  erasing.erasedOnceClosed,
  erasing.erasedLeavesNothing,
  erasing.erasedStaysErased,
  erasing.laterRequestCopied,
  erasing.erasedTaskIgnored,
  erasing.erasureEnds,
  requestItems.requestItemKept,
  startCalls.startingWrittenBeforeCall,
  startCalls.startInTime,
  startCalls.timeForTheCall,
  startCalls.runningStartLeftAlone,
  transitionsAndOutcomes.allowedTransitions,
  transitionsAndOutcomes.outcomeStands,
  transitionsAndOutcomes.lastReadBeforeTimedOut,
  transitionsAndOutcomes.statusIsTheProviders,
  collectingAndClosing.newerLeftAlone,
  collectingAndClosing.openWhileUnfinished,
  collectingAndClosing.nothingSealedShown,
  rendezvous.rendezvous,
  rendezvous.wokenAfterRecorded,
  rendezvous.wakeNotLost,
  rendezvous.waitAnswered,
  rendezvous.pollNotLost,
  queueMessages.queuedBeforeWoken,
  queueMessages.leasedBeforeSent,
  queueMessages.oneChainOfMessages,
  queueMessages.dueMessageContinued,
  collectingAndClosing.requestKept,
  collectingAndClosing.settledAndClosed,
  startsInLine.withdrawnIsOver,
  startsInLine.notStartedIsNotInLine,
  startsInLine.nobodyWaitsInVain,
  startsInLine.waitsNoLonger,
  startCalls.startWindowUsed,
  startCalls.notStartedMeansNoTask,
  startCalls.rejectedMeansNoTask,
  startCalls.consentIsTheReason,
  startCalls.unconfirmedForAReason,
  transitionsAndOutcomes.othersTaskDisowned,
  rendezvous.deliveryNotLost,
  collectingAndClosing.lastReadOnce,
  transitionsAndOutcomes.closedAfterARead,
  collectingAndClosing.resultsCollected,
  collectingAndClosing.outcomeBeforeResults,
  collectingAndClosing.laggingAwaited,
  collectingAndClosing.oversizedOnce,
  transitionsAndOutcomes.correctionFound,
  requestItems.requestItemForgotten,
  requestItems.adoptedRequestForgotten,
  requestItems.requestGoneForAReason,
  heldCalls.breakerRespected,
  heldCalls.pauseKeepsOpen,
  heldCalls.waitsAsAsked,
  transitionsAndOutcomes.countedOnce,
  advice.adviceFollows,
  advice.noRepeatBesideATask,
  advice.problemIsOfLastTry,
  advice.causeCostsNoWrite,
  advice.changeIsPublished,
];
