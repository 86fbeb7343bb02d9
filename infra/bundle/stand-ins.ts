import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** Modules of the SDK, by the end of their path, and what stands for each; that file says why. */
const table: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node/dist-es/index.js': 'lambda-credentials.ts',
  '@aws-sdk/endpoint-cache/dist-es/index.js': 'no-endpoint-cache.ts',
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js':
    'no-shared-config-files.ts',
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js': 'no-sha256-without-node.ts',
};

/** The SDK's HTTP protocols import it when an operation streams events; the clients that have such import it too. */
const eventStreams = { path: '@smithy/core/event-streams', by: 'no-event-streams.ts' };

const fileOf = (standIn: string): string => fileURLToPath(new URL(`./stand-ins/${standIn}`, import.meta.url));

/**
 * Puts a module of ours in the place of one that Lambda never reaches. The build fails if one of them is no longer
 * met: then an upgrade has moved it, and what it was there to keep out may be in again. It fails too, by esbuild itself,
 * if somebody imports a name that the stand-in does not have.
 */
export const standIns = (replaced: Readonly<Record<string, string>> = table): Plugin => ({
  name: 'stand-ins',
  setup: ({ onResolve, onLoad, onEnd }) => {
    const met = new Set<string>();
    for (const [module, standIn] of Object.entries(replaced)) {
      onLoad({ filter: endOf(module) }, async () => {
        met.add(module);
        const file = fileOf(standIn);
        return { contents: await readFile(file, 'utf8'), loader: 'ts', resolveDir: dirname(file) };
      });
    }
    onResolve({ filter: endOf(eventStreams.path) }, ({ kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      met.add(eventStreams.path);
      return { path: fileOf(eventStreams.by), sideEffects: false };
    });
    onEnd(() => ({
      errors: [...Object.keys(replaced), eventStreams.path]
        .filter((module) => !met.has(module))
        .map((module) => ({
          text: `Nothing imports ${module} any more. See what does its work now, and whether that is needed.`,
        })),
    }));
  },
});

const endOf = (path: string): RegExp => new RegExp(`(^|/)${path.replaceAll('.', '\\.')}$`);
