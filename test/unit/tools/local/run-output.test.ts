import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeProviderEvent } from '../../../../tools/local/demo.ts';
import { createRunOutput, formatLine, type Paint } from '../../../../tools/local/run-output.ts';
import type { SandboxEvent } from '../../../sandbox/events.ts';
import type { Call, Delivery } from '../../../sandbox/state.ts';

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
    show.note('stream', 'REQUESTED → STARTING');
    show.rest();
    expect(written).toBe(
      [
        '   0.0 s  … deploy      deploying the stack',
        '   1.5 s  ✔ deploy      Cosecha-local',
        '   1.5 s  · stream      REQUESTED → STARTING',
        '',
      ].join('\n'),
    );
  });
});

describe('an event of the provider', () => {
  const delivery = {
    attempt: 2,
    mode: 'encrypted',
    taskStatus: 'COMPLETED',
    signatureValid: true,
    status: 204,
  } as unknown as Delivery;
  const call = { method: 'POST', path: '/api/v2/tasks', status: 200, username: 'u\u001b' } as unknown as Call;
  const lineOf = (event: object) => describeProviderEvent(event as SandboxEvent)?.join('  ');

  it.each([
    [
      { type: 'call', call: { ...call, credentialsMode: 'raw' } },
      'provider  POST /api/v2/tasks → 200  user u\\u001b',
    ],
    [{ type: 'call', call }, 'provider  POST /api/v2/tasks → 200'],
    [
      { type: 'delivery', delivery },
      'webhook  delivery 2: COMPLETED, encrypted, signed with HMAC-SHA256 → 204',
    ],
    [
      { type: 'delivery', delivery: { ...delivery, mode: undefined, error: 'dropped' } },
      'webhook  delivery 2: COMPLETED, not sent (dropped)',
    ],
    [{ type: 'reset' }, undefined],
  ])('is a line without a national id: %j', (event, expected) => {
    expect(lineOf(event)).toBe(expected);
  });
});
