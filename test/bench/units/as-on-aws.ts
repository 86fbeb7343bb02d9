import { samples, taskTokenCharacters } from '../assumptions.ts';
import type { Item } from './item-bytes.ts';

const onAws: Item = {
  callbackToken: { S: 't'.repeat(taskTokenCharacters) },
  requestedBy: { S: samples.requestedBy },
};

/** The item with the values that AWS generates in AWS's length, because the emulator's are longer or shorter. */
export const asOnAws = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, onAws[name] ?? value]));
