/**
 * `npm run bench:verify [seed]`: the speed of `verifySignature` compared with a minimal check and with webhook libraries,
 * each in its own format, for the same bodies in one process.
 */
import { randomOf } from '../../support/data/random.ts';
import { markdownTable } from '../markdown-table.ts';
import { median, quantile } from '../quantile.ts';
import { bodyOf, bodySizes, contenders, floor, prove } from './contenders.ts';
import { measure } from './measure.ts';

/** On a busy machine our medians repeat within 2 % (docs/performance.md). 3 sizes × 7 × 400 × 8 ms: 67 s. */
const rounds = 400;

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(seed);

const sizeOf = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KB`);

const columns: { readonly header: string; readonly cells: readonly string[] }[] = [];
let names: readonly string[] = [];
for (const bytes of bodySizes) {
  const [body, other] = [bodyOf(bytes, 'this'), bodyOf(bytes, 'that')];
  const all = [floor, ...contenders].map((make) => make(body, other));
  for (const contender of all) await prove(contender);
  const [floorMicros = [], ...micros] = await measure(all, rounds, random);

  const ratios = micros.map((own) => own.map((each, round) => (floorMicros[round] ?? Number.NaN) / each));
  columns.push({
    header: sizeOf(bytes),
    cells: [
      `${median(floorMicros).toFixed(2)} µs`,
      ...ratios.map((own) => {
        const [low, high] = [quantile(own, 0.25), quantile(own, 0.75)];
        return `${median(own).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
      }),
    ],
  });
  names = all.map(({ name }) => name);
}

console.log(
  markdownTable([
    ['checks per second, relative to the floor', ...columns.map(({ header }) => header)],
    ...names.map((name, index) => [name, ...columns.map(({ cells }) => cells[index] ?? '')]),
  ]),
);
console.log(`\nMedians of ${rounds} rounds in shuffled order (seed ${seed}), quartiles in brackets.`);
