import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createRunOutput } from '../../../../tools/local/run-output.ts';
import { eventText } from '../../../sandbox/describe-event.ts';
import type { SandboxEvent } from '../../../sandbox/event-log.ts';

test('without a terminal, every step and every wait is a plain line', () => {
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

test('an event of the provider is a line without its username, which may be a national id', () => {
  const call = { method: 'GET', path: '/api/v1/consents', status: 200, username: '11111111-1' };
  expect(eventText({ type: 'call', call } as SandboxEvent)).toBe('GET /api/v1/consents → 200');
});
