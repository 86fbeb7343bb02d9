import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { environmentKey } from '../../../../../tools/local/emulator/python-environment.ts';

const python = { executable: '/usr/bin/python3', version: '3.12.1' };

describe('the key of a Python environment', () => {
  it('is the same for the same requirements and Python', () => {
    expect(environmentKey('a==1', { ...python }, 'linux-x64')).toBe(
      environmentKey('a==1', python, 'linux-x64'),
    );
  });

  it('differs with the requirements, the Python and the platform', () => {
    const keys = [
      environmentKey('a==1', python, 'linux-x64'),
      environmentKey('a==2', python, 'linux-x64'),
      environmentKey('a==1', { ...python, version: '3.12.2' }, 'linux-x64'),
      environmentKey('a==1', { ...python, executable: '/opt/python3' }, 'linux-x64'),
      environmentKey('a==1', python, 'darwin-arm64'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe.each(['tools/local/emulator', 'test/second-opinion'])('%s/requirements.txt', (directory) => {
  const text = readFileSync(`${directory}/requirements.txt`, 'utf8');
  const requirements = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

  it('pins every package by version and by hash', () => {
    expect(requirements.length).toBeGreaterThan(10);
    for (const requirement of requirements) {
      expect(requirement).toMatch(/^[a-z0-9-]+==[\w.]+ .*--hash=sha256:[0-9a-f]{64}/);
    }
  });

  it('names no index and no URL', () => {
    expect(text).not.toMatch(/:\/\/|--index|--find-links|@ file/);
  });
});
