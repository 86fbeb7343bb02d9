import { anothersTaskDisowned } from './anothers-task-disowned.ts';
import { claimedBeforeLooked } from './claimed-before-looked.ts';
import { countedOnce } from './counted-once.ts';
import { deliveryNotLost } from './delivery-not-lost.ts';
import { honestNotStarted } from './honest-not-started.ts';
import { honestRejected } from './honest-rejected.ts';
import type { Invariant } from './invariant.ts';
import { lastReadBeforeTimedOut } from './last-read-before-timed-out.ts';
import { lateTruthFound } from './late-truth-found.ts';
import { liveAttemptLeftAlone } from './live-attempt-left-alone.ts';
import { markedBeforeStartCall } from './marked-before-start-call.ts';
import { nothingSealedShown } from './nothing-sealed-shown.ts';
import { oneStartCall } from './one-start-call.ts';
import { openWhileUnfinished } from './open-while-unfinished.ts';
import { outcomeStands } from './outcome-stands.ts';
import { oversizedOnce } from './oversized-once.ts';
import { rendezvous } from './rendezvous.ts';
import { requestKept } from './request-kept.ts';
import { requestOfItsRecord } from './request-of-its-record.ts';
import { resultsCollected } from './results-collected.ts';
import { settledAndClosed } from './settled-and-closed.ts';
import { startInTime } from './start-in-time.ts';
import { tableOfMoves } from './table-of-moves.ts';
import { toldTruly } from './told-truly.ts';
import { unconfirmedForAReason } from './unconfirmed-for-a-reason.ts';
import { waitAnswered } from './wait-answered.ts';
import { wakeNotLost } from './wake-not-lost.ts';
import { wokenAfterTheFact } from './woken-after-the-fact.ts';

/** Every invariant. The first that is broken is the one that is named, so what is more exact comes first. */
export const invariants: readonly Invariant[] = [
  oneStartCall,
  requestOfItsRecord,
  markedBeforeStartCall,
  startInTime,
  liveAttemptLeftAlone,
  tableOfMoves,
  outcomeStands,
  lastReadBeforeTimedOut,
  toldTruly,
  openWhileUnfinished,
  nothingSealedShown,
  rendezvous,
  wokenAfterTheFact,
  wakeNotLost,
  waitAnswered,
  claimedBeforeLooked,
  requestKept,
  settledAndClosed,
  honestNotStarted,
  honestRejected,
  unconfirmedForAReason,
  anothersTaskDisowned,
  deliveryNotLost,
  resultsCollected,
  oversizedOnce,
  lateTruthFound,
  countedOnce,
];
