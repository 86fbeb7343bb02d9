import { describe, expect, it } from 'vitest';
import { emulatorApiUrl, toEmulatorUrl } from '../../../../../tools/cli/aws/emulator-url.ts';

const base = emulatorApiUrl('http://127.0.0.1:4566', 'abcd1234');

describe('an address of the API', () => {
  it('has the emulator as its host and keeps its path', () => {
    expect(
      toEmulatorUrl(base, 'https://abcd1234.execute-api.us-east-1.amazonaws.com/webhooks/provider'),
    ).toBe(`${base}/webhooks/provider`);
    expect(toEmulatorUrl(base, 'https://abcd1234.execute-api.us-east-1.amazonaws.com')).toBe(base);
  });
});
