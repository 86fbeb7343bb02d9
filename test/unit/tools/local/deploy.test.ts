import { expect, it } from 'vitest';
import { parseOutputs } from '../../../../tools/local/deploy.ts';

it('parses the outputs file of the CDK CLI into the outputs of the stack', () => {
  expect(parseOutputs('{"Cosecha-local":{"ApiId":"abcd1234","ApiUrl":"https://x"}}')).toEqual({
    ApiId: 'abcd1234',
    ApiUrl: 'https://x',
  });
});
