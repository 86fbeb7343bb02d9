import { describe, expect, it } from 'vitest';
import { summarizeResults } from '../../../../infra/local/demo/summarize-results.ts';
import { parseOutputs } from '../../../../infra/local/deploy.ts';
import { tail } from '../../../../infra/local/run-command.ts';

describe('the outputs file of the CDK CLI', () => {
  it('is read into the outputs of the stack', () => {
    expect(parseOutputs('{"Cosecha-local":{"ApiId":"abcd1234","ApiUrl":"https://x"}}')).toEqual({
      ApiId: 'abcd1234',
      ApiUrl: 'https://x',
    });
  });
});

describe('the end of a command’s output', () => {
  it('is its last lines, without colours and blank lines, indented', () => {
    expect(tail('one\n\u001b[31mtwo\u001b[39m  \n\n  three\n', 2)).toBe('  two\n    three');
  });
});

describe('the summary of results', () => {
  it('says how much each action brought, and nothing of it', () => {
    const actions = [
      {
        id: 'product-balance',
        status: 'COMPLETED',
        output: { currency: 'CLP', accounts: [{ balance: 1 }, {}] },
      },
      { id: 'movement', status: 'COMPLETED', output: [{ amount: 1 }] },
      { id: 'tef', status: 'FAILED', output: null },
    ];
    expect(summarizeResults(JSON.stringify({ taskStatus: 'PARTIAL', results: { actions } }))).toBe(
      ['product-balance: COMPLETED, accounts: 2', 'movement: COMPLETED, items: 1', 'tef: FAILED'].join('\n'),
    );
  });

  it('is a word where there are none', () => {
    expect(summarizeResults('{"taskStatus":"success","results":[{},{}]}')).toBe('items: 2');
    expect(summarizeResults('{"data":[{}]}')).toBe('items: 1');
    expect(summarizeResults('{"taskStatus":"CREDENTIALS_WRONG","results":null}')).toBe('no actions');
  });
});
