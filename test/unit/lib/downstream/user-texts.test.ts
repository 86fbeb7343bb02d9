import { expect, test } from 'vitest';
import { userTextOf, userTexts } from '#lib/downstream/user-texts.ts';

test('the first error code that has a text says why, before what to do', () => {
  const codes = ['NEW_ERROR', 'TIMEOUT_ERROR', 'ACTION_ERROR'];
  const actionResults = codes.map((code) => ({ id: 'tef', status: 'FAILED', errorCode: code }));
  const { advice, errorCode } = userTexts;
  expect(userTextOf({ advice: 'request-again', actionResults })).toEqual({
    en: `${errorCode.TIMEOUT_ERROR.en} ${advice['request-again'].en}`,
    'es-CL': `${errorCode.TIMEOUT_ERROR['es-CL']} ${advice['request-again']['es-CL']}`,
  });
  expect(userTextOf({ advice: 'ask-user' })).toEqual(advice['ask-user']);
});

test('each text is short, in both languages, and has no code of ours', () => {
  const texts = Object.values(userTexts).flatMap((some) => Object.values(some));
  for (const text of texts.flatMap((one) => [one.en, one['es-CL']])) {
    expect(text).toMatch(/^\p{Lu}[^_]{10,79}\.$/u);
  }
});

test('without an advice there is nothing to show, and one of a later version is for the operator', () => {
  expect(userTextOf({})).toBeUndefined();
  expect(userTextOf({ advice: 'constructor' })).toEqual(userTexts.advice.operator);
});
