import type { DeliberateFault } from './deliberate-fault.ts';
import { keepingFaults } from './keeping.ts';
import { settlingFaults } from './settling.ts';
import { startingFaults } from './starting.ts';

/** Every deliberate fault. Each is to be caught: what is not, the simulation does not see. */
export const deliberateFaults: readonly DeliberateFault[] = [
  ...startingFaults,
  ...settlingFaults,
  ...keepingFaults,
];
