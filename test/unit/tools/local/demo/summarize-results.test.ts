import { describe, expect, it } from 'vitest';
import { summarizeResults } from '../../../../../tools/local/demo/summarize-results.ts';

describe('the summary of results', () => {
  it('has the number of items of each action, and no data', () => {
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

  it('has the number of items of a product, or states that there are no actions', () => {
    expect(summarizeResults('{"taskStatus":"success","results":[{},{}]}')).toBe('items: 2');
    expect(summarizeResults('{"data":[{}]}')).toBe('items: 1');
    expect(summarizeResults('{"taskStatus":"CREDENTIALS_WRONG","results":null}')).toBe('no actions');
  });
});
