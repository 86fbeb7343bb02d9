import { adviceFaults } from './advice-faults.ts';
import { breakerFaults } from './breaker-faults.ts';
import { decisionFaults } from './decision-faults.ts';
import { deliveryAndOutcomeFaults } from './delivery-and-outcome-faults.ts';
import { intakeAndClosingFaults } from './intake-and-closing-faults.ts';
import type { PlantedFault } from './planted-fault.ts';
import { refusedCredentialsFaults } from './refused-credentials-faults.ts';
import { startFaults } from './start-faults.ts';

/** Every planted fault. The simulation, or the enumeration, must catch each, or it would miss such a defect. */
export const plantedFaults: readonly PlantedFault[] = [
  ...startFaults,
  ...deliveryAndOutcomeFaults,
  ...intakeAndClosingFaults,
  ...breakerFaults,
  ...refusedCredentialsFaults,
  ...decisionFaults,
  ...adviceFaults,
];
