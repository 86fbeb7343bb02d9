import { describe, expect, it } from 'vitest';
import {
  choosePython,
  type DescribedPython,
  isNewEnough,
  parseDescription,
} from '../../../../../tools/local/emulator/find-python.ts';

const python = (version: string, missing: string[] = []): DescribedPython => ({
  executable: `/opt/python-${version}/bin/python3`,
  version,
  missing,
});

const problemOf = (described: DescribedPython[]) => {
  const choice = choosePython(described);
  return 'problem' in choice ? choice.problem : undefined;
};

describe('the version of a Python', () => {
  it.each(['3.10.0', '3.13.1', '3.14.0rc2', '4.0.0'])('%s is new enough', (version) => {
    expect(isNewEnough(version)).toBe(true);
  });

  it.each(['2.7.18', '3.9.19', '3.8', '', 'unknown'])('"%s" is not new enough', (version) => {
    expect(isNewEnough(version)).toBe(false);
  });
});

describe('the description of a candidate', () => {
  it('is parsed from its one line', () => {
    const line = '{"executable": "/usr/bin/python3", "version": "3.12.1", "missing": ["ensurepip"]}\n';
    expect(parseDescription(line)).toEqual({
      executable: '/usr/bin/python3',
      version: '3.12.1',
      missing: ['ensurepip'],
    });
  });

  it.each(['', 'Python 2.7.18', '[]', '"3.12"', '{"version": "3.12.1"}'])(
    'is undefined if the output is %j',
    (output) => {
      expect(parseDescription(output)).toBeUndefined();
    },
  );
});

describe('the choice of a Python', () => {
  it('is the first that is new enough and complete', () => {
    expect(
      choosePython([python('3.8.18'), python('3.11.2', ['ensurepip']), python('3.12.1'), python('3.13.0')]),
    ).toEqual({
      executable: '/opt/python-3.12.1/bin/python3',
      version: '3.12.1',
    });
  });

  it('fails with one sentence that there is none, and the remedy', () => {
    expect(problemOf([])).toMatch(
      /^The AWS emulator needs Python 3\.10 or later, and none was found .*AWS_ENDPOINT_URL/,
    );
  });

  it('fails with the version and path of one that is too old', () => {
    expect(problemOf([python('3.8.18')])).toContain(
      'only 3.8.18, at /opt/python-3.8.18/bin/python3, was found',
    );
  });

  it('fails with the modules that a new enough one lacks', () => {
    const problem = problemOf([python('3.8.18'), python('3.11.2', ['venv', 'ensurepip'])]);
    expect(problem).toContain('Python 3.11.2 at /opt/python-3.11.2/bin/python3 lacks venv and ensurepip');
    expect(problem).toContain('apt install python3-venv');
  });
});
