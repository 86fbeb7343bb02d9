import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const registration = /^n0_registry\.registerError\((\w+)\$, \1\);$/gm;
const exportOfErrors = 'export * from "./models/errors";';

/** A client is not generated as clients are so far: fails the build, with what to look at. */
class UnexpectedClient extends Error {
  override readonly name = 'UnexpectedClient';
}

/**
 * The errors of a client that may be dropped if nobody names them: all but those that the SDK tries again for a mark
 * on their class (`$retryable`).
 */
const droppable = (client: string, schemas: string, errors: string): readonly string[] => {
  const registered = [...schemas.matchAll(registration)].map(([, name = '']) => name);
  const declared = [...errors.matchAll(/^export class (\w+) extends __BaseException \{$/gm)].map(
    ([, name = '']) => name,
  );
  const mentioned = schemas.split('n0_registry.registerError').length - 1;
  if (
    registered.length === 0 ||
    mentioned !== registered.length ||
    registered.toSorted().join() !== declared.toSorted().join()
  ) {
    throw new UnexpectedClient(`The errors of ${client} are not registered one by one.`);
  }
  const bodies = errors.split(/^(?=export class )/m);
  return registered.filter((name) => {
    const body = bodies.find((text) => text.startsWith(`export class ${name} `)) ?? '';
    return !body.includes('$retryable');
  });
};

/**
 * `{ [_e]: … }` becomes `{ "error": … }` where the file says `const _e = "error"`. To esbuild a computed key may have an
 * effect, so that it would keep every schema that has one, used or not.
 */
const withPlainKeys = (schemas: string): string => {
  const constants = new Map(
    [...schemas.matchAll(/^const (\w+) = ("[^"\\]*");$/gm)].map(([, name = '', text = '']) => [name, text]),
  );
  return schemas.replace(/\[(\w+)\]: /g, (key, name: string) => {
    const text = constants.get(name);
    return text === undefined ? key : `${text}: `;
  });
};

const partsOf = async (client: string) => {
  const [schemas, errors] = await Promise.all([
    readFile(join(client, 'schemas', 'schemas_0.js'), 'utf8'),
    readFile(join(client, 'models', 'errors.js'), 'utf8'),
  ]);
  return { schemas, dropped: droppable(client, schemas, errors) };
};

/**
 * A client registers the class of every error of its service when it loads, so that all of them stay in the bundle,
 * with what describes their fields: for DynamoDB, Step Functions and Secrets Manager together 30 KB. With this plugin a
 * class registers itself where it is imported from the client, and esbuild drops those that nobody imports.
 *
 * Such an error then comes as the client's base exception, as one does that is younger than the client: with the
 * same `name`, `message`, `$fault` and `$metadata`, which is what the SDK's retries and our code go by
 * (test/unit/infra/bundle/as-without-plugins.test.ts compares them all).
 */
export const dropUnusedErrors = (): Plugin => ({
  name: 'errors-that-are-named',
  setup: ({ onLoad, onEnd }) => {
    let met = 0;
    const index = /\/@aws-sdk\/client-[\w-]+\/dist-es\/index\.js$/;
    onLoad({ filter: index }, async ({ path }) => {
      const client = dirname(path);
      const source = await readFile(path, 'utf8');
      const { dropped } = await partsOf(client);
      if (!source.includes(exportOfErrors)) {
        throw new UnexpectedClient(`${path} does not export its errors as they are.`);
      }
      met += 1;
      return {
        // What a module exports itself comes before what it exports by a star. The registry is the client's own, by
        // whatever version of @smithy/core it resolves; a schema's second element is the namespace of its service.
        contents: `${source}
import * as schemas from "./schemas/schemas_0";
import * as errors from "./models/errors";
import { TypeRegistry } from "@smithy/core/schema";
const registerError = (schema, error) => {
  TypeRegistry.for(schema[1]).registerError(schema, error);
  return error;
};
${dropped.map((name) => `export const ${name} = /* @__PURE__ */ registerError(schemas.${name}$, errors.${name});`).join('\n')}
`,
        resolveDir: client,
      };
    });
    onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, async ({ path }) => {
      const { schemas, dropped } = await partsOf(dirname(dirname(path)));
      const names = new Set(dropped);
      return {
        contents: withPlainKeys(schemas).replace(registration, (statement, name: string) =>
          names.has(name) ? '' : statement,
        ),
        resolveDir: dirname(path),
      };
    });
    onEnd(() => (met === 0 ? { errors: [{ text: 'No AWS client was met.' }] } : undefined));
  },
});
