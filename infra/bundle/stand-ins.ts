import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** Modules of the SDK, by the end of their path, and the file that replaces each. That file explains why. */
const replacements: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node/dist-es/index.js': 'lambda-credentials.ts',
  '@aws-sdk/endpoint-cache/dist-es/index.js': 'no-endpoint-cache.ts',
  '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js':
    'no-instance-metadata.ts',
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js':
    'no-shared-config-files.ts',
  '@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js': 'no-adaptive-retries.ts',
  '@smithy/signature-v4/dist-es/HeaderFormatter.js': 'no-event-headers.ts',
  '@smithy/core/dist-es/submodules/checksum/md5/Md5Node.js': 'no-md5.ts',
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js': 'no-sha256-without-node.ts',
};

/** Replaced only where the SDK's HTTP protocols import it dynamically. Clients that stream events import it statically. */
const eventStreams = { path: '@smithy/core/event-streams', by: 'no-event-streams.ts' };

const fileOf = (standIn: string): string => fileURLToPath(new URL(`./stand-ins/${standIn}`, import.meta.url));

/**
 * Replaces modules of the SDK whose code never runs on Lambda. The build fails if nothing imports one of them: then an
 * upgrade has moved it, and its code may be in the bundle again. esbuild itself fails the build if code imports a name that
 * the replacement does not export.
 */
export const standIns = (replaced: Readonly<Record<string, string>> = replacements): Plugin => ({
  name: 'stand-ins',
  setup: ({ onResolve, onLoad, onEnd }) => {
    const found = new Set<string>();
    for (const [module, standIn] of Object.entries(replaced)) {
      onLoad({ filter: endOf(module) }, async () => {
        found.add(module);
        const file = fileOf(standIn);
        return { contents: await readFile(file, 'utf8'), loader: 'ts', resolveDir: dirname(file) };
      });
    }
    onResolve({ filter: endOf(eventStreams.path) }, ({ kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      found.add(eventStreams.path);
      return { path: fileOf(eventStreams.by), sideEffects: false };
    });
    onEnd(() => ({
      errors: [...Object.keys(replaced), eventStreams.path]
        .filter((module) => !found.has(module))
        .map((module) => ({
          text: `Nothing imports ${module}. Find out which module replaced it, and whether the bundle needs that.`,
        })),
    }));
  },
});

const endOf = (path: string): RegExp => new RegExp(`(^|/)${path.replaceAll('.', '\\.')}$`);
