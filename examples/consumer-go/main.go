// Counts extractions by source and outcome. It reads lines from the standard input: batches of Lambda, events of the bus, or lines of
// `cosecha export`. A service keeps its entries in a table, and replaces one only if its sequence number is lower.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"os"
)

// The latest change of each extraction.
type entries map[string]*Event

// apply keeps an event, unless the same or a later one was kept before. What is removed keeps its last outcome.
func (all entries) apply(event *Event) {
	before, isKnown := all[event.ExtractionID]
	if event.Extraction != nil && (!isKnown || number(event).Cmp(number(before)) > 0) {
		all[event.ExtractionID] = event
	}
}

// A sequence number has more digits than an integer of 64 bits.
func number(event *Event) *big.Int {
	value, _ := new(big.Int).SetString(event.SequenceNumber, 10)
	return value
}

func (all entries) outcomes() map[string]int {
	counts := map[string]int{}
	for _, event := range all {
		if one := event.Extraction; one.SettledAt != "" {
			counts[one.Entity+one.Product+" "+one.Status]++
		}
	}
	return counts
}

// recordsOf is each record of a batch, or the line itself.
func recordsOf(line []byte) []json.RawMessage {
	var batch struct{ Records []json.RawMessage }
	if json.Unmarshal(line, &batch) == nil && batch.Records != nil {
		return batch.Records
	}
	return []json.RawMessage{line}
}

func main() {
	all := entries{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, given := range recordsOf(lines.Bytes()) {
			event, err := Decode(given)
			if err != nil {
				// A skipped one could be an outcome.
				log.Fatal(err)
			}
			all.apply(event)
			written, _ := json.Marshal(map[string]any{"kind": event.Kind, "outcomes": all.outcomes()})
			fmt.Println(string(written))
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
