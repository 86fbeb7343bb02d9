/** The texts of the consent page: Spanish (the default locale is `es-CL`) and, for `en…`, English. */
const es = {
  language: 'es',
  title: 'Autorización de acceso a datos',
  introduction: 'Elija la entidad y los productos cuyos datos autoriza a consultar.',
  entity: 'Entidad',
  products: 'Productos',
  authorize: 'Autorizar',
  discard: 'Rechazar',
  authorized: 'Consentimiento autorizado',
  discarded: 'Consentimiento rechazado',
  consent: 'Consentimiento',
  close: 'Puede cerrar esta página.',
  chooseProduct: 'Elija al menos un producto.',
  unusable: 'Este enlace no sirve',
  unusableReason: 'Se usó, venció o nunca existió. Pida uno nuevo.',
};
export type PageTexts = Readonly<typeof es>;

const en: PageTexts = {
  language: 'en',
  title: 'Authorize access to your data',
  introduction: 'Choose the entity and the products whose data may be read.',
  entity: 'Entity',
  products: 'Products',
  authorize: 'Authorize',
  discard: 'Discard',
  authorized: 'Consent authorized',
  discarded: 'Consent discarded',
  consent: 'Consent',
  close: 'You may close this page.',
  chooseProduct: 'Choose at least one product.',
  unusable: 'This link cannot be used',
  unusableReason: 'It was used, has expired or never existed. Ask for a new one.',
};

export const pageTexts = (locale: string): PageTexts => (locale.toLowerCase().startsWith('en') ? en : es);
