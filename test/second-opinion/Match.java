import java.nio.file.Files;
import java.nio.file.Path;
import software.amazon.event.ruler.Ruler;

/** Reads a file with an event, a tab and a pattern in each line, both JSON. Prints for each line whether they match. */
class Match {
  public static void main(String[] arguments) throws Exception {
    for (var line : Files.readAllLines(Path.of(arguments[0]))) {
      var eventAndPattern = line.split("\t");
      System.out.println(Ruler.matchesRule(eventAndPattern[0], eventAndPattern[1]));
    }
  }
}
