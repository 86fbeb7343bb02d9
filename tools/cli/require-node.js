// Plain JavaScript that old versions of Node can read, so that they print a sentence instead of a syntax error.

/** Runs the TypeScript of a clone without a flag: https://nodejs.org/docs/latest-v22.x/api/typescript.html */
const least = [22, 18];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < least[0] || (major === least[0] && minor < least[1])) {
  console.error(
    `Cosecha needs Node ${least.join('.')} or newer, and this is ${process.versions.node}. In a clone on Linux, npm ci installs Node 24 for npm's scripts, unless it has no optional dependencies.`,
  );
  process.exit(1);
}
