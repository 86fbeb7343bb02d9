import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  createRunOutput,
  formatBlock,
  formatLine,
  type Paint,
} from '../../../../../tools/local/demo/run-output.ts';

const plain: Paint = (_format, text) => text;
const coloured: Paint = (format, text) => styleText(format, text, { validateStream: false });

const line = { elapsedMs: 6_149, kind: 'done', subject: 'deploy', text: 'Cosecha-local' } as const;

describe('a line of a run', () => {
  it('has the elapsed time, a sign, the subject and the text', () => {
    expect(formatLine(line, plain)).toBe('   6.1 s  ✔ deploy      Cosecha-local');
  });

  it('has the same text with colours', () => {
    const text = formatLine(line, coloured);
    expect(text).not.toBe(formatLine(line, plain));
    expect(stripVTControlCharacters(text)).toBe(formatLine(line, plain));
  });

  it('has its details indented under its text', () => {
    const column = formatLine(line, plain).indexOf('Cosecha');
    expect(formatBlock('{\n}', plain)).toBe(`${' '.repeat(column)}{\n${' '.repeat(column)}}`);
  });
});

describe('without a terminal', () => {
  it('every step and every wait is a plain line', () => {
    let written = '';
    const out = new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk);
        done();
      },
    });
    let clock = 1_000;
    const show = createRunOutput(out, () => clock);
    show.wait('deploy', 'deploying the stack');
    clock += 1_500;
    show.done('deploy', 'Cosecha-local');
    show.note('machine', 'state StartTask entered');
    show.rest();
    expect(written).toBe(
      [
        '   0.0 s  … deploy      deploying the stack',
        '   1.5 s  ✔ deploy      Cosecha-local',
        '   1.5 s  · machine     state StartTask entered',
        '',
      ].join('\n'),
    );
  });
});
