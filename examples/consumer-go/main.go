// Counts extractions by source and outcome. It reads lines from the standard input: events of the bus, of `cosecha listen` or of
// `cosecha export`. A service keeps its entries in a table, and replaces one only if its sequence number is lower.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
)

// Event is one change of an extraction (docs/schemas/event.json), with the attributes that this consumer reads.
type Event struct {
	Kind, EventID, ExtractionID, SequenceNumber string
	Extraction                                  *struct {
		SchemaVersion                                 int
		Status, Entity, Product, SettledAt, ErasingAt string
	}
}

var errNotOurs = errors.New("it is not an event of an extraction, or of a newer version")

// decode takes an event, or what the bus wraps around one.
func decode(line []byte) (*Event, error) {
	var bus struct {
		Detail struct{ Data json.RawMessage }
	}
	if json.Unmarshal(line, &bus) == nil && bus.Detail.Data != nil {
		line = bus.Detail.Data
	}
	var event Event
	if err := json.Unmarshal(line, &event); err != nil {
		return nil, errNotOurs
	}
	one, isRemoved := event.Extraction, event.Kind == "erased" || event.Kind == "expired"
	if event.Kind == "" || event.EventID == "" || event.ExtractionID == "" || number(&event) == nil || (one == nil && !isRemoved) {
		return nil, errNotOurs
	}
	if one != nil && (one.SchemaVersion != 1 || one.Status == "") {
		return nil, errNotOurs
	}
	return &event, nil
}

// A sequence number has more digits than an integer of 64 bits.
func number(event *Event) *big.Int {
	value, _ := new(big.Int).SetString(event.SequenceNumber, 10)
	return value
}

func main() {
	latest, lines := map[string]*Event{}, bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		event, err := decode(lines.Bytes())
		if err != nil {
			log.Fatal(err) // A skipped one could be an outcome.
		}
		// The same or a later change may have come before. What is removed keeps its last outcome.
		before, isKnown := latest[event.ExtractionID]
		if event.Extraction != nil && (!isKnown || number(event).Cmp(number(before)) > 0) {
			latest[event.ExtractionID] = event
		}
		outcomes := map[string]int{}
		for _, each := range latest {
			// After `erasing`, the `settled` that may follow brings nobody back.
			if one := each.Extraction; one.SettledAt != "" && one.ErasingAt == "" {
				outcomes[one.Entity+one.Product+" "+one.Status]++
			}
		}
		written, _ := json.Marshal(map[string]any{"kind": event.Kind, "outcomes": outcomes})
		fmt.Println(string(written))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
