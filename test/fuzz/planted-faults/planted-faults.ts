import type { SourcePatch } from '../../support/programs/patch-source.ts';

/** A planted fault, and the property that must catch it. */
export type PlantedFault = SourcePatch & { readonly caughtBy: string };

type Faults = { readonly [name: string]: readonly [find: string, replace: string] };

/** By the property that must catch them, and the file that they are in. */
const faults: { readonly [caughtBy: string]: { readonly [file: string]: Faults } } = {
  'webhook/bit-flips': {
    'lib/webhook/verify-signature.ts': {
      'compares 31 bytes of the HMAC': [
        'timingSafeEqual(expected, claimed)',
        'timingSafeEqual(expected.subarray(0, 31), claimed.subarray(0, 31))',
      ],
    },
  },
  'webhook/agrees-with-oracle': {
    'lib/provider/assumptions.ts': {
      'accepts a 65th hex digit': ['/^sha256=[0-9a-fA-F]{64}$/', '/^sha256=[0-9a-fA-F]{64}[0-9]?$/'],
    },
    'lib/webhook/verify-signature.ts': {
      'accepts a header with a space or a line break': [
        'signaturePattern.test(header)',
        'signaturePattern.test(header.trim())',
      ],
      'verifies the decoded text in place of the bytes': [
        '.update(body)',
        '.update(Buffer.from(body).toString("utf8"))',
      ],
      'reads the header as low bytes of its characters': [
        'signaturePattern.test(header)',
        "signaturePattern.test(Buffer.from(header, 'latin1').toString('latin1'))",
      ],
      'reads the key as Latin-1': ["createSecretKey(text, 'utf8')", "createSecretKey(text, 'latin1')"],
      'accepts the current key only': ['for (const key of keys)', 'for (const key of keys.slice(0, 1))'],
    },
    'lib/webhook/receive-delivery.ts': {
      'continues after a mismatch': [
        'if (!verification.verified) {',
        'if (!verification.verified && verification.reason !== "mismatch") {',
      ],
      'answers with the reason of a refusal': ['problem(body)', 'problem(body, { detail: facts.reason })'],
      'answers differently for undecryptable text and for text that is not JSON': [
        'problem(body)',
        'problem(facts.reason === "not-decryptable" ? "unauthorized" : body)',
      ],
      'reads deliveries as lenient UTF-8': [
        "new TextDecoder('utf-8', { fatal: true })",
        "new TextDecoder('utf-8')",
      ],
      'answers undecryptable text with 500': [
        'if (!(error instanceof UndecryptableText)) throw error;',
        'throw error;',
      ],
      'accepts deliveries of 16 KiB and a byte': [
        'body.byteLength > deliveryLimitBytes',
        'body.byteLength > deliveryLimitBytes + 1',
      ],
      'stores statuses that are not final': [
        'return isTerminalStatus(taskStatus)',
        'return isTerminalStatus(taskStatus.trim().toUpperCase())',
      ],
    },
    'lib/provider/encrypt-and-decrypt.ts': {
      'accepts malformed base64': [
        'if (!strictBase64.test(ciphertext) || !strictBase64.test(iv)) throw new UndecryptableText();',
        '',
      ],
      'does not remove the padding': [
        'return Buffer.concat([decipher.update(bytes)',
        `decipher.setAutoPadding(false);
    return Buffer.concat([decipher.update(bytes)`,
      ],
    },
    'lib/extraction/change.ts': {
      'settles a settled record': [
        "markSettled: { from: ['RUNNING']",
        "markSettled: { from: ['RUNNING', 'FAILED']",
      ],
    },
    'lib/extraction/transitions.ts': {
      'settles the record of another task': [
        `when: { taskId },
        set: {`,
        `when: {},
        set: {`,
      ],
    },
    'lib/extraction/record-delivery.ts': {
      'records the later of two statuses': [
        'const taskStatus = first ?? delivery.taskStatus;',
        'const taskStatus = delivery.taskStatus;',
      ],
    },
    'lib/extraction/decide.ts': {
      'queues no collection': ["atRest(context, 'webhook')", "end('closed')"],
    },
  },
  'webhook/unverified-is-not-decrypted': {
    'lib/webhook/receive-delivery.ts': {
      'decrypts before it verifies': [
        'const verification = await verify(',
        `for (const key of await deps.keys.current()) parseDelivery(body, key.text);
  const verification = await verify(`,
      ],
    },
  },
  'webhook/redelivery': {
    'lib/extraction/record-delivery.ts': {
      'fails if the callback token was used before': [
        "if (wake === 'invalid-token')",
        `if (wake === 'gone') throw new Error('gone');
  if (wake === 'invalid-token')`,
      ],
    },
  },
  'webhook/order': {
    'lib/webhook/cache-signing-keys.ts': {
      'drops its keys after a forged delivery': [
        'refreshed: async () => (age()',
        'refreshed: async () => ((known = []), age()',
      ],
    },
  },
  'webhook/failing-dependency': {
    'lib/webhook/receive-delivery.ts': {
      'answers 204 if the table fails': [
        'await deps.record({ taskId, taskStatus })',
        'await deps.record({ taskId, taskStatus }).catch(() => ({ kind: "stored" }))',
      ],
    },
    'lib/webhook/cache-signing-keys.ts': {
      'answers 401 if the secret cannot be read': [
        'await options.fetchKeys()',
        'await options.fetchKeys().catch(() => [])',
      ],
    },
  },
  'webhook/key-rotation': {
    'lib/webhook/cache-signing-keys.ts': {
      'reads the secret for every forged delivery': [
        'age() < options.refreshEveryMs ? undefined : fetchNow()',
        'fetchNow()',
      ],
      'never reads the secret after a mismatch': [
        'age() < options.refreshEveryMs ? undefined : fetchNow()',
        'undefined',
      ],
      'accepts a withdrawn key for an hour': [
        'const maxAgeMs = 5 * 60_000;',
        'const maxAgeMs = 60 * 60_000;',
      ],
    },
  },
  'api/agrees-with-openapi': {
    'lib/http/parse-request-body.ts': {
      'reads bodies of any size': ['bytes.byteLength > limit', 'bytes.byteLength > limit * 2'],
      'reads requests as lenient UTF-8': [
        "new TextDecoder('utf-8', { fatal: true })",
        "new TextDecoder('utf-8')",
      ],
    },
    'lib/http/body-field-schemas.ts': {
      'accepts a field called __proto__': [
        "'__proto__', 'prototype', 'constructor'] as const",
        "'prototype', 'constructor'] as const",
      ],
      'accepts control characters of C1 and DEL': ['/^\\P{Cc}*$/u', '/^[^\\x00-\\x1f]*$/u'],
      'accepts line breaks': ['/^\\P{Cc}*$/u', '/^\\P{Cc}*$/mu'],
    },
    'lib/http/parse-exact-json.ts': {
      'keeps the last of two members with one name': ['inner.names.add(inner.at)', 'inner.names.clear()'],
      'accepts numbers that are rounded': [
        'numberIn(written) === numberIn(source)',
        'numberIn(written) !== undefined',
      ],
      'refuses numbers in another spelling': ['|| numberIn(written) === numberIn(source)', ''],
      'points at the field beside such a number': [
        '[...pathTo(parent), name]',
        '[...pathTo(parent), name + "_"]',
      ],
    },
    'lib/extraction/api/parse-request.ts': {
      'accepts numbers that change': [
        'for (const names of findChangedNumbers(dataset.value)) {',
        'for (const names of findChangedNumbers({})) {',
      ],
      'accepts dates out of order': ['startDate <= endDate', 'true'],
      'seals without a limit': [
        'encodeSealed(requestDataToSeal(request)).byteLength <= sealLimitBytes',
        'encodeSealed(requestDataToSeal(request)).byteLength <= sealLimitBytes + 1',
      ],
      'counts characters where KMS counts bytes': [
        'encodeSealed(requestDataToSeal(request)).byteLength',
        'JSON.stringify(requestDataToSeal(request)).length',
      ],
    },
    'lib/provider/transport/request-field-schemas.ts': {
      'accepts 30 February': ['new Date(time).toISOString().startsWith(day)', 'true'],
    },
    'lib/provider/national-id.ts': {
      'accepts a wrong check digit': ['&& checkDigitOf(digits) === checkDigit ?', '?'],
    },
    'lib/extraction/api/answer-request.ts': {
      'seals something for a request that it refuses': [
        "if (parsed.kind === 'invalid') return",
        `if (parsed.kind === 'invalid') await deps.seal('', {});
  if (parsed.kind === 'invalid') return`,
      ],
      'starts before it records': [
        "if (parsed.request.method === 'consent') deps.assertConsentsSetUp();",
        `await deps.startExecution({});
  if (parsed.request.method === 'consent') deps.assertConsentsSetUp();`,
      ],
    },
    'lib/http/violation.ts': {
      'does not escape slashes in pointers': [".replaceAll('/', '~1')", ''],
    },
  },
  'api/nothing-echoed': {
    'lib/http/violation.ts': {
      'answers with the value it found': ['return issue.message;', 'return issue.message + issue.received;'],
    },
    'lib/extraction/api/request-extraction.ts': {
      'records the credentials': [
        'return { method, entity, actions };',
        'return { method, entity, actions, credentials: request.credentials };',
      ],
    },
  },
  'api/repeated-requests': {
    'lib/extraction/api/parse-request.ts': {
      'takes the default priority for another request': ["priority === 'background' ?", 'priority ?'],
    },
    'lib/extraction/api/idempotency.ts': {
      'fingerprints the ciphertext, which differs at every retry': [
        "if (credentials.mode === 'encrypted') return { shown };",
        "if (credentials.mode === 'encrypted') return { shown, persisted: credentials.value };",
      ],
      'fingerprints no reference': [
        'const { sessionToken: _sessionToken, credentials, ...shown } = request;',
        'const { sessionToken: _sessionToken, reference: _reference, credentials, ...shown } = request;',
      ],
      'fingerprints no user': ["bound('raw', raw, 64)", "bound('raw', undefined, 64)"],
      'shares idempotency keys between callers': [
        'JSON.stringify([caller, idempotencyKey])',
        'JSON.stringify([idempotencyKey])',
      ],
    },
    'lib/extraction/keyed-mac.ts': {
      'fingerprints the order of the keys': ['fields.toSorted().join()', 'fields.join()'],
    },
    'lib/http/caller.ts': {
      'treats each session of a role as another caller': [
        'return assumedRole?.[1] ?? userArn;',
        'return userArn;',
      ],
    },
  },
  'credentials/one-mac': {
    'lib/extraction/keyed-mac.ts': {
      'takes each normal form of Unicode for another password': [
        "typeof value === 'string' ? value.normalize() : value",
        'value',
      ],
      'takes letters that look alike for the same password': ['value.normalize()', "value.normalize('NFKC')"],
      'does not know where a list ends': [
        'value.map(canonicalJson).join()}]`',
        'value.map(canonicalJson).join()}`',
      ],
    },
    'lib/extraction/refused-credentials.ts': {
      'takes each spelling of a national id for another user': ['bareNationalId(text) ?? text', 'text'],
      'takes each one-time code for another password': ['[userOf(value), value.password]', 'value'],
    },
  },
  'api/request-erasure': {
    'lib/extraction/api/answer-erasure.ts': {
      'erases what another caller requested': [
        'record?.requestedBy === caller ? 1 : undefined',
        'record === undefined ? undefined : 1',
      ],
      'erases the extractions of all callers': ['askedBy: caller, requestedBy: caller,', 'askedBy: caller,'],
    },
  },
  'api/read-extraction': {
    'lib/extraction/api/answer-read.ts': {
      'shows an extraction to everybody': ['record.requestedBy === caller ||', 'true ||'],
    },
    'lib/extraction/api/public-view.ts': {
      'shows internal attributes': ['fingerprint: _fingerprint,', ''],
    },
  },
  'consents/consent-routes': {
    'lib/consents/parse-national-id-header.ts': {
      'quotes the header Cosecha-Target': [
        "detail: 'The header Cosecha-Target must be a national id with its check digit.',",
        'detail: header,',
      ],
    },
    'lib/consents/answer-consent-request.ts': {
      'calls the provider without a target': [
        "if (read.kind === 'invalid') return invalid(read.detail);",
        '',
      ],
    },
  },
  'reads/same-as-json-parse': {
    'lib/http/parse-large-json.ts': {
      'keeps the first of several fields with one name': [
        'else last.value[last.key] = value;',
        'else last.value[last.key] ??= value;',
      ],
      'keeps fields of an object that is dropped': [
        'if (this.#dropped > 0) this.#dropped -= 1;',
        'if (this.#dropped > 0) this.#dropped = 0;',
      ],
      'accepts JSON that is cut off': [
        "if (!kept.ended) throw new SyntaxError('The JSON is not complete.');",
        '',
      ],
      'cuts texts that count': ['const maxText = 128;', 'const maxText = 16;'],
      'overlooks the 51st action': ['const maxItems = 51;', 'const maxItems = 50;'],
      'does not know the end of a number at the end': ["takeAll(' ');", ''],
      'keeps every number': ['Number(this.#text) : 0', '1 : 0'],
    },
  },
  'answers/nothing-kept': {
    'lib/extraction/codes.ts': {
      'records an errorType as it is': ["looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER'", 'code'],
      'takes a text with many digits for a code': ["text.replace(/\\D/g, '').length <= maxDigits", 'true'],
    },
  },
};

export const plantedFaults: readonly PlantedFault[] = Object.entries(faults).flatMap(([caughtBy, files]) =>
  Object.entries(files).flatMap(([file, inFile]) =>
    Object.entries(inFile).map(([name, [find, replace]]) => ({ name, file, find, replace, caughtBy })),
  ),
);
