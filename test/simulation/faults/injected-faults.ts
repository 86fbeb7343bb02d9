import { holdingFaults } from './holding.ts';
import type { InjectedFault } from './injected-fault.ts';
import { keepingFaults } from './keeping.ts';
import { settlingFaults } from './settling.ts';
import { startingFaults } from './starting.ts';

/** Every injected fault. The simulation must catch each, or it would miss such a defect. */
export const injectedFaults: readonly InjectedFault[] = [
  ...startingFaults,
  ...settlingFaults,
  ...keepingFaults,
  ...holdingFaults,
];
