import { defined } from '#lib/defined.ts';
import { fuzzFaults } from '../../fuzz/planted-faults.ts';
import { adviceFaults } from './advice-faults.ts';
import { mixFaults, outageFaults, populationFaults } from './breaker-faults.ts';
import { crowdFaults, neighbourFaults, sharingFaults } from './crowd-faults.ts';
import { decisionFaults } from './decision-faults.ts';
import { deliveryAndOutcomeFaults } from './delivery-and-outcome-faults.ts';
import { erasingFaults } from './erasing-faults.ts';
import { intakeAndClosingFaults } from './intake-and-closing-faults.ts';
import type { Faults, PlantedFault } from './planted-fault.ts';
import { loginFaults, refusedCredentialsFaults } from './refused-credentials-faults.ts';
import { lineFaults, startFaults } from './start-faults.ts';

const faultsOf = (faults: Faults, world?: PlantedFault['world']): readonly PlantedFault[] =>
  Object.entries(faults).map(([name, fault]) => ({ name, replace: '', ...fault, ...defined({ world }) }));

/** Every planted fault. The simulation, the enumeration or the fuzz must catch each, or it would miss such a defect. */
export const plantedFaults: readonly PlantedFault[] = [
  ...faultsOf(startFaults),
  ...faultsOf(lineFaults),
  ...faultsOf(deliveryAndOutcomeFaults),
  ...faultsOf(intakeAndClosingFaults),
  ...faultsOf(refusedCredentialsFaults),
  ...faultsOf(erasingFaults),
  ...faultsOf(adviceFaults),
  ...faultsOf(outageFaults, 'outage'),
  ...faultsOf(mixFaults, 'mix'),
  ...faultsOf(populationFaults, 'population'),
  ...faultsOf(crowdFaults, 'crowd'),
  ...faultsOf(neighbourFaults, 'neighbour'),
  ...faultsOf(sharingFaults, 'sharing'),
  ...faultsOf(loginFaults, 'refusal'),
  ...faultsOf(decisionFaults, 'enumeration'),
  ...fuzzFaults,
];
