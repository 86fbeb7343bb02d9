import { samples, taskTokenCharacters } from '../assumptions.ts';
import type { Item } from './item-bytes.ts';

const onAws: Item = {
  callbackToken: { S: 't'.repeat(taskTokenCharacters) },
  requestedBy: { S: samples.requestedBy },
  requestId: { S: samples.apiRequestId },
};

/** The item with those attributes whose values come from AWS as long as there: the emulator's are longer or shorter. */
export const asOnAws = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, onAws[name] ?? value]));
