import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const registration = /^n0_registry\.registerError\((\w+)\$, \1\);$/gm;
const exportOfErrors = 'export * from "./models/errors";';

/** A client has another form than this plugin expects. The message names it, and the build fails. */
class UnexpectedClient extends Error {
  override readonly name = 'UnexpectedClient';
}

/**
 * The errors of a client that can be dropped where no code imports them. Errors with `$retryable` on their class cannot, as
 * the SDK's retries read it.
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
 * `{ [_e]: … }` becomes `{ "error": … }` where the file has `const _e = "error"`. esbuild assumes that a computed key has a
 * side effect, and would keep every schema that has one.
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
 * A client registers the class of every error of its service when it loads, so all of them and their schemas stay in the
 * bundle: 30 KB for DynamoDB, Step Functions and Secrets Manager. With this plugin a class is registered where code imports
 * it from the client, and esbuild drops the others.
 *
 * The client then throws a dropped error as its base exception, as it does for errors newer than the client. `name`,
 * `message`, `$fault` and `$metadata` are the same, and the SDK's retries and Cosecha use nothing else
 * (test/unit/infra/bundle/bundles.test.ts compares them all).
 */
export const dropUnusedErrors = (): Plugin => ({
  name: 'drop-unused-errors',
  setup: ({ onLoad, onEnd }) => {
    let clients = 0;
    const index = /\/@aws-sdk\/client-[\w-]+\/dist-es\/index\.js$/;
    onLoad({ filter: index }, async ({ path }) => {
      const client = dirname(path);
      const source = await readFile(path, 'utf8');
      const { dropped } = await partsOf(client);
      if (!source.includes(exportOfErrors)) {
        throw new UnexpectedClient(`${path} does not export all of its errors.`);
      }
      clients += 1;
      return {
        // A module's own export wins over one by a star. The registry is that of the @smithy/core that the client
        // resolves. The second element of a schema is the namespace of its service.
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
    onEnd(() => (clients === 0 ? { errors: [{ text: 'The bundle contains no AWS client.' }] } : undefined));
  },
});
