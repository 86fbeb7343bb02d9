"""Counts extractions by source and outcome. A source is an entity, or a product for the method `consent`.

As a program it reads batches and events from the standard input, one JSON object a line, and prints the totals after each:

    python3 count_outcomes.py ../../docs/schemas/stream-record.json < extractions.jsonl
"""

import json
import signal
import sys
from collections import Counter
from pathlib import Path

from extraction_events import consume


class Outcomes:
    """The outcome of each extraction, and the change that set it.

    It is in memory, to keep the example small. Keep the entries in a table, and replace an entry only if its sequence number
    is lower, in one conditional write.
    """

    def __init__(self):
        self.entries = {}

    def handle(self, event):
        """Applies a change, unless the same or a later one was applied before. Totals keep extractions that are removed."""
        if "extraction" not in event:
            return
        sequence_number, _ = self.entries.get(event["extractionId"], (-1, None))
        if event["sequenceNumber"] > sequence_number:
            self.entries[event["extractionId"]] = (event["sequenceNumber"], event["extraction"])

    def totals(self):
        """How many extractions ended how, as `source outcome`, what is to be done about them, and how many outcomes are final.

        `advice` is missing while it depends on results that are not collected yet.
        """
        # After `erasing`, the `settled` that may follow brings nobody back.
        extractions = [one for _, one in self.entries.values() if "erasingAt" not in one]
        settled = [one for one in extractions if "settledAt" in one]
        counts = Counter(f"{one.get('entity', one.get('product'))} {one['status']}" for one in settled)
        advice = Counter(one.get("advice", "wait") for one in settled)
        return {"outcomes": counts, "advice": advice, "final": sum("isFinal" in one for one in settled)}


if __name__ == "__main__":
    # Ctrl-C ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    schema = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    outcomes = Outcomes()
    for line in sys.stdin:
        answer = consume(json.loads(line), outcomes.handle, schema)
        if answer["batchItemFailures"]:
            print(json.dumps(answer), file=sys.stderr)
        print(json.dumps(outcomes.totals()), flush=True)
