import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { repository } from '../local/paths.ts';

export const bundledPackages = (metafiles: readonly Metafile[]): readonly string[] => {
  const folders = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs)
        // Of a file with 0 bytes, nothing is left.
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .flatMap(([path]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
    ),
  );
  return [...new Set(folders)].toSorted();
};

type Package = { readonly name: string; readonly version: string; readonly license?: string };

const manifestOf = async (folder: string): Promise<Package> =>
  JSON.parse(await readFile(join(repository, folder, 'package.json'), 'utf8')) as Package;

const textsIn = async (folder: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|notice|copying)\b/i.test(name));
  const texts = await Promise.all(names.toSorted().map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
};

/** The licence of each bundled package, and its text. Packages with the same text share it. */
export const licencesOf = async (folders: readonly string[]): Promise<string> => {
  const byText = new Map<string, string[]>();
  for (const folder of folders) {
    const { name, version, license } = await manifestOf(folder);
    if (license === undefined) throw new Error(`${name} names no licence: do not bundle it.`);
    const text =
      (await textsIn(join(repository, folder))) || `The package contains no text of its licence, ${license}.`;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const line = '-'.repeat(80);
  const parts = [...byText].map(([text, packages]) => `${packages.join('\n')}\n\n${text}\n`);
  return [`The bundles of this package contain code of these packages.\n`, ...parts].join(`\n${line}\n\n`);
};

type Bill = {
  readonly metadata: { readonly component: { readonly 'bom-ref': string; readonly name: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** npm's bill of materials (CycloneDX), of what is bundled: everything else is only needed to build and to test. */
export const billOfMaterials = async (folders: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'],
    { cwd: repository, maxBuffer: 64 * 1_048_576 },
  );
  const bill = JSON.parse(stdout) as Bill;
  const packages = await Promise.all(folders.map(manifestOf));
  const bundled = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const components = bill.components.filter((one) => bundled.has(`${one.name}@${one.version}`));
  if (components.length !== bundled.size)
    throw new Error('npm does not know every bundled package: run npm ci.');
  // npm takes the name of the directory.
  const component = { ...bill.metadata.component, name: '@cosecha/cosecha' };
  const refs = new Set([component['bom-ref'], ...components.map((one) => one['bom-ref'])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const metadata = { ...bill.metadata, component };
  return `${JSON.stringify({ ...bill, metadata, components, dependencies }, null, 2)}\n`;
};
