import type { Advice as KnownAdvice } from '../extraction/record.ts';
import type { ActionErrorCode } from '../provider/vocabulary.ts';
import type { Advice, ExtractionSnapshot } from './extraction-event.ts';

/** A short text for the user to whom the data belongs, by language. */
export type UserText = { readonly en: string; readonly 'es-CL': string };

/** What an app may show after an outcome, by advice. A text promises only what the advice asks somebody to do. */
const byAdvice = {
  none: {
    en: 'There is nothing that you have to do.',
    'es-CL': 'No tienes que hacer nada.',
  },
  wait: {
    en: 'Your bank takes longer than usual. We will let you know.',
    'es-CL': 'Tu banco está tardando más de lo habitual. Te avisaremos.',
  },
  'ask-user': {
    en: 'Your bank refused your credentials. Correct them, or unlock them there.',
    'es-CL': 'Tu banco rechazó tu clave. Corrígela, o desbloquéala en tu banco.',
  },
  'renew-consent': {
    en: 'Your permission is no longer valid. Please give it again.',
    'es-CL': 'Tu autorización ya no está vigente. Por favor, otórgala de nuevo.',
  },
  'fix-request': {
    en: 'We could not get your data, by an error of ours. We are working on it.',
    'es-CL': 'No pudimos obtener tus datos por un error nuestro. Lo estamos resolviendo.',
  },
  'request-again': {
    en: 'We could not get all of your data. Please try again.',
    'es-CL': 'No pudimos obtener todos tus datos. Por favor, inténtalo de nuevo.',
  },
  'request-later': {
    en: 'Your data are not available now. Please try again in an hour or later.',
    'es-CL': 'Tus datos no están disponibles ahora. Inténtalo de nuevo en una hora o más.',
  },
  'ask-provider': {
    en: 'We do not know yet whether your bank answered. We are finding out.',
    'es-CL': 'Aún no sabemos si tu banco respondió. Lo estamos averiguando.',
  },
  operator: {
    en: 'We could not get your data. We are working on it.',
    'es-CL': 'No pudimos obtener tus datos. Estamos trabajando en ello.',
  },
} as const satisfies Readonly<Record<KnownAdvice, UserText>>;

/** Why an action failed, by its error code. It goes before the text of the advice. */
const byErrorCode = {
  UNKNOWN_ERROR: {
    en: 'Your bank answered with an error.',
    'es-CL': 'Tu banco respondió con un error.',
  },
  ACTION_ERROR: {
    en: 'Your bank could not show a part of your data.',
    'es-CL': 'Tu banco no pudo mostrar una parte de tus datos.',
  },
  REQUEST_BLOCK_ERROR: {
    en: 'Your bank blocked the request.',
    'es-CL': 'Tu banco bloqueó la solicitud.',
  },
  TIMEOUT_ERROR: {
    en: 'Your bank did not answer in time.',
    'es-CL': 'Tu banco no respondió a tiempo.',
  },
  ENTITY_API_ERROR: {
    en: 'The service of your bank reported an error.',
    'es-CL': 'El servicio de tu banco informó un error.',
  },
} as const satisfies Readonly<Record<ActionErrorCode, UserText>>;

export const userTexts = { advice: byAdvice, errorCode: byErrorCode } as const;

const isKnown = <Known extends string>(
  texts: Readonly<Record<Known, UserText>>,
  code: string,
): code is Known => Object.hasOwn(texts, code);

/**
 * What an app may show the user of an extraction. It names the reason, by the first error code that has a text, and what to do next.
 * Undefined without an advice, because there is no outcome yet or its results are not collected. An unknown advice counts as `operator`.
 */
export const userTextOf = ({
  advice,
  actionResults = [],
}: {
  readonly advice?: Advice | undefined;
  readonly actionResults?: ExtractionSnapshot['actionResults'] | undefined;
}): UserText | undefined => {
  if (advice === undefined) return undefined;
  const what = byAdvice[isKnown(byAdvice, advice) ? advice : 'operator'];
  const code = actionResults.map(({ errorCode = '' }) => errorCode).find((one) => isKnown(byErrorCode, one));
  const why = code === undefined || !isKnown(byErrorCode, code) ? undefined : byErrorCode[code];
  if (why === undefined || advice === 'none') return what;
  return { en: `${why.en} ${what.en}`, 'es-CL': `${why['es-CL']} ${what['es-CL']}` };
};
