import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repository } from '../../tools/local/paths.ts';
import { caughtCode, type DrawnFault, drawFaults } from './draw-faults.ts';

/** How long the tests of one fault may take, which may never end. Without a fault they take half a minute on a busy machine. */
const limitMs = 300_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    // Each takes some 2 s of processor time, and a survivor up to 15 s.
    count: { type: 'string', default: '12' },
    random: { type: 'boolean', default: false },
  },
});
const seed = values.random ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
const file = new URL('survivors.txt', import.meta.url);
/** Those that no test catches, one a line, below a line with the reason. The file only shrinks. */
const known = new Set(
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^(#|$)/.test(line)),
);
const directory = mkdtempSync(join(tmpdir(), 'cosecha-drawn-faults-'));

/** Whether the compiler refuses it, in a copy of the product. */
const isRefused = async ({ file, source }: DrawnFault): Promise<boolean> => {
  const copy = mkdtempSync(join(directory, 'product-'));
  for (const part of ['lib', 'functions', 'infra', 'package.json'])
    cpSync(join(repository, part), join(copy, part), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, file), source);
  const project = { extends: join(repository, 'tsconfig.json'), include: [file] };
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(project));
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const [code] = await once(spawn(process.execPath, [tsc, '--project', copy], { stdio: 'ignore' }), 'exit');
  return code !== 0;
};

/** Whether a test fails with the fault, or never ends, or the compiler refuses it. Throws if the tests did not run. */
const isCaught = async (fault: DrawnFault, lane: number): Promise<boolean> => {
  const path = join(directory, `${lane}.json`);
  writeFileSync(path, JSON.stringify(fault));
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
  const options = ['--config', 'test/drawn-faults/vitest.config.ts', '--tags-filter', '!slow'];
  const child = spawn(process.execPath, [vitest, 'run', ...options], {
    cwd: repository,
    env: { ...process.env, DRAWN_FAULT: path },
    stdio: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0 && code !== caughtCode && signal !== 'SIGKILL')
    throw new Error(`No test ran for ${fault.id}.`);
  return code !== 0 || (await isRefused(fault));
};

const drawn = drawFaults(seed, Number(values.count));
console.log(`${drawn.length} faults, drawn by the seed ${seed}.`);
const left = [...drawn];
const survivors: DrawnFault[] = [];
const runLane = async (_: unknown, lane: number): Promise<void> => {
  for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
    if (await isCaught(fault, lane)) continue;
    survivors.push(fault);
    console.log(
      `${known.has(fault.id) ? 'known' : 'NEW'}  ${fault.id}\n       line ${fault.line}: ${fault.was} → ${fault.is}`,
    );
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, runLane));
rmSync(directory, { recursive: true });

const ids = new Set(survivors.map(({ id }) => id));
const found = [...ids].filter((id) => !known.has(id));
const caught = drawn.filter(({ id }) => known.has(id) && !ids.has(id));
console.log(
  `${drawn.length - survivors.length} of ${drawn.length} caught. Repeat it: npm run draw-faults -- --seed ${seed} --count ${drawn.length}`,
);
for (const { id } of caught)
  console.log(`A test catches it now. Remove it from test/drawn-faults/survivors.txt: ${id}`);
if (caught.length > 0 || found.length > 0) process.exitCode = 1;
