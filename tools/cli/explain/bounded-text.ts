import { printable } from '../terminal/printable.ts';

/** In characters. The longest sentence of Cosecha's own is shorter, so only texts of others are cut. */
const maxText = 300;

/** A text as one line that a terminal shows in full, at most `most` characters long. */
export const bounded = (text: string, most = maxText): string => {
  const characters = [...printable(text)];
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`;
};

/** A time to the second: `12:10:00Z`, or with its day if that is not the day of `now`. */
export const clockTime = (time: string, now: Date): string => {
  const [day = '', clock = ''] = time.split('T');
  const seconds = `${clock.slice(0, 8)}Z`;
  return day === now.toISOString().slice(0, 10) ? seconds : `${day} ${seconds}`;
};
