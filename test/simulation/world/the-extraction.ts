/** The only extraction of a world. */
export const theExtraction = 'extraction-1';

/** Another extraction. The provider may return its task for the first one. */
export const anotherExtraction = 'extraction-2';

export const theCaller = 'arn:aws:iam::111122223333:role/Caller';

/** The value of its raw credentials. */
export const theCredentials = { password: 'secret-credentials' };

/** The secret under which MACs are made. */
export const fingerprintKey = 'secret-fingerprint-key';
