import { describeIfInstalled, findProgram } from '../support/programs/describe-if-installed.ts';

/** With the compiler, which event-ruler.test.ts needs. */
export const hasJava = findProgram('javac') !== undefined && findProgram('mvn') !== undefined;

/** DynamoDB Local has its SQLite for this architecture alone. */
const isInstalled = process.arch === 'x64' && hasJava;

/** Tests that need Java. Without it they are skipped, but in CI they fail. */
export const describeWithJava = (title: string, tests: () => void): void =>
  describeIfInstalled(
    isInstalled,
    {
      title,
      howToInstall: `${title}: on an x64 machine install a JDK 17 or later and Maven, e.g. apt-get install -y default-jdk-headless maven`,
    },
    tests,
  );
