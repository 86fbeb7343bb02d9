import { advisingFaults } from './advising.ts';
import { decidingFaults } from './deciding.ts';
import { holdingFaults } from './holding.ts';
import { keepingFaults } from './keeping.ts';
import type { PlantedFault } from './planted-fault.ts';
import { refusingFaults } from './refusing.ts';
import { settlingFaults } from './settling.ts';
import { startingFaults } from './starting.ts';

/** Every planted fault. The simulation, or the enumeration, must catch each, or it would miss such a defect. */
export const plantedFaults: readonly PlantedFault[] = [
  ...startingFaults,
  ...settlingFaults,
  ...keepingFaults,
  ...holdingFaults,
  ...refusingFaults,
  ...decidingFaults,
  ...advisingFaults,
];
