import type { PlantedFault } from '../simulation/planted-faults/planted-fault.ts';

type Faults = { readonly [name: string]: readonly [find: string, replace: string] };

/** By the property that must catch them, and the file that they are in. */
const faults: { readonly [caughtBy: string]: { readonly [file: string]: Faults } } = {
  'webhook/agrees-with-oracle': {
    'lib/provider/assumptions.ts': {
      'accepts a 65th hex digit': ['/^sha256=[0-9a-fA-F]{64}$/', '/^sha256=[0-9a-fA-F]{64}[0-9]?$/'],
    },
    'lib/webhook/verify-signature.ts': {
      'leaves a byte in the middle of the HMAC out of the comparison': [
        'timingSafeEqual(expected, claimed)',
        'timingSafeEqual(expected, Buffer.from(claimed).fill(expected.subarray(16, 17), 16, 17))',
      ],
      'verifies the decoded text in place of the bytes': [
        '.update(body)',
        '.update(Buffer.from(body).toString("utf8"))',
      ],
    },
    'lib/webhook/receive-delivery.ts': {
      'continues after a mismatch': [
        'if (!verification.verified) {',
        'if (!verification.verified && verification.reason !== "mismatch") {',
      ],
      'reads deliveries as lenient UTF-8': [
        "new TextDecoder('utf-8', { fatal: true })",
        "new TextDecoder('utf-8')",
      ],
    },
    'lib/provider/encrypt-and-decrypt.ts': {
      'accepts malformed base64': [
        'if (!strictBase64.test(ciphertext) || !strictBase64.test(iv)) throw new UndecryptableText();',
        '',
      ],
    },
    'lib/extraction/record-delivery.ts': {
      'records the later of two statuses': [
        'const taskStatus = finalStatusIn(task) ?? delivery.taskStatus;',
        'const taskStatus = delivery.taskStatus;',
      ],
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
  'webhook/failing-dependency': {
    'lib/webhook/receive-delivery.ts': {
      'answers 204 if the table fails': [
        'await deps.record({ taskId, taskStatus })',
        'await deps.record({ taskId, taskStatus }).catch(() => ({ kind: "stored" }))',
      ],
    },
    'lib/webhook/cache-signing-keys.ts': {
      'answers 401 if the secret cannot be read': [
        'options.fetchKeys().then',
        'options.fetchKeys().catch(() => []).then',
      ],
    },
  },
  'webhook/key-rotation': {
    'lib/webhook/cache-signing-keys.ts': {
      'reads the secret for every forged delivery': [
        'age() < options.refreshEveryMs ? fetched : fetchNow()',
        'fetchNow()',
      ],
    },
  },
  'api/agrees-with-openapi': {
    'lib/http/parse-request-body.ts': {
      'reads bodies of any size': ['bytes.byteLength > limit', 'bytes.byteLength > limit * 2'],
      'accepts numbers that are rounded': [
        'numberIn(written) === numberIn(source)',
        'numberIn(written) !== undefined',
      ],
    },
    'lib/http/body-fields.ts': {
      'accepts a field called __proto__': [
        "'__proto__', 'prototype', 'constructor'] as const",
        "'prototype', 'constructor'] as const",
      ],
    },
    'lib/extraction/api/parse-request.ts': {
      'counts characters where KMS counts bytes': [
        'encodeSealed(requestDataToSeal(request)).byteLength',
        'JSON.stringify(requestDataToSeal(request)).length',
      ],
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
    },
  },
  'api/nothing-echoed': {
    'lib/http/body-fields.ts': {
      'answers with the value it found': ['return issue.message;', 'return issue.message + issue.received;'],
    },
    'lib/extraction/api/create-extraction.ts': {
      'records the credentials': [
        'return { method, entity, actions };',
        'return { method, entity, actions, credentials: request.credentials };',
      ],
    },
  },
  'api/repeated-requests': {
    'lib/extraction/api/idempotency.ts': {
      'fingerprints the ciphertext, which differs at every retry': [
        "if (credentials.mode === 'encrypted') return { shown };",
        "if (credentials.mode === 'encrypted') return { shown, persisted: credentials.value };",
      ],
      'shares idempotency keys between callers': [
        'JSON.stringify([caller, idempotencyKey])',
        'JSON.stringify([idempotencyKey])',
      ],
    },
    'lib/extraction/keyed-mac.ts': {
      'fingerprints the order of the keys': ['fields.toSorted().join()', 'fields.join()'],
    },
  },
  'credentials/one-mac': {
    'lib/extraction/keyed-mac.ts': {
      'takes each normal form of Unicode for another password': [
        "typeof value === 'string' ? value.normalize() : value",
        'value',
      ],
      'takes letters that look alike for the same password': ['value.normalize()', "value.normalize('NFKC')"],
    },
    'lib/extraction/refused-credentials.ts': {
      'takes each one-time code for another password': ['[userOf(value), value.password]', 'value'],
    },
  },
  'api/request-erasure': {
    'lib/extraction/api/answer-erasure.ts': {
      'erases what another caller requested': [
        'record?.requestedBy === caller ? { found: 1, newest: record.requestedAt } : undefined',
        'record === undefined ? undefined : { found: 1, newest: record.requestedAt }',
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
    'lib/consents/answer-consent-request.ts': {
      'quotes the header Cosecha-Target': [
        "invalid('The header Cosecha-Target must be a national id with its check digit.')",
        'invalid(target)',
      ],
      'takes any target': ['!isNationalId(target)', 'false'],
    },
  },
  'reads/same-as-json-parse': {
    'lib/http/parse-large-json.ts': {
      'keeps the first of several fields with one name': [
        'else last.value[last.key] = value;',
        'else last.value[last.key] ??= value;',
      ],
      'accepts JSON that is cut off': [
        "if (!kept.ended) throw new SyntaxError('The JSON is not complete.');",
        '',
      ],
      'does not know the end of a number at the end': ["takeAll(' ');", ''],
    },
  },
  'answers/nothing-kept': {
    'lib/extraction/codes.ts': {
      'records an errorType as it is': ["looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER'", 'code'],
      'takes a text with many digits for a code': ["text.replace(/\\D/g, '').length <= maxDigits", 'true'],
    },
  },
};

export const fuzzFaults: readonly PlantedFault[] = Object.entries(faults).flatMap(([caughtBy, files]) =>
  Object.entries(files).flatMap(([file, inFile]) =>
    Object.entries(inFile).map(([name, [find, replace]]) => ({
      name,
      file,
      find,
      replace,
      caughtBy,
      world: 'fuzz',
    })),
  ),
);
