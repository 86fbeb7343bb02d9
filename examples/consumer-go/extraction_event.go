package main

import (
	"encoding/json"
	"errors"
	"math/big"
)

// Event is one change of an extraction. Extraction has the attributes of docs/stream.md that this consumer reads, and is nil after a removal.
type Event struct {
	Kind           string      `json:"kind"`
	EventID        string      `json:"eventId"`
	ExtractionID   string      `json:"extractionId"`
	SequenceNumber string      `json:"sequenceNumber"`
	Extraction     *Extraction `json:"extraction"`
}

type Extraction struct {
	SchemaVersion int    `json:"schemaVersion"`
	Status        string `json:"status"`
	Entity        string `json:"entity"`
	Product       string `json:"product"`
	SettledAt     string `json:"settledAt"`
	Advice        string `json:"advice"`
	IsFinal       bool   `json:"isFinal"`
}

type image map[string]map[string]any

type record struct {
	EventID      string `json:"eventID"`
	EventName    string `json:"eventName"`
	UserIdentity *struct{ Type, PrincipalID string }
	Dynamodb     *struct {
		Keys, NewImage, OldImage image
		SequenceNumber           string
	}
}

// ErrNotOurs is of what is not of the stream of extractions, or for what this reader is too old.
var ErrNotOurs = errors.New("it is not an event of an extraction, or of a newer version")

// Decode takes a record of the stream, an event of the bus or its detail, or a line of `cosecha export`.
func Decode(given []byte) (*Event, error) {
	var wrapped struct{ Detail, Data json.RawMessage }
	if json.Unmarshal(given, &wrapped) == nil && wrapped.Detail != nil {
		return Decode(wrapped.Detail)
	}
	if wrapped.Data != nil {
		return Decode(wrapped.Data)
	}
	var event Event
	if err := json.Unmarshal(given, &event); err != nil {
		return nil, ErrNotOurs
	}
	if event.Kind == "" {
		if err := decodeRecord(given, &event); err != nil {
			return nil, err
		}
	}
	_, isNumber := new(big.Int).SetString(event.SequenceNumber, 10)
	isRemoved := event.Kind == "erased" || event.Kind == "expired"
	if event.EventID == "" || event.ExtractionID == "" || !isNumber || (!isRemoved && event.Extraction == nil) {
		return nil, ErrNotOurs
	}
	if event.Extraction != nil && (event.Extraction.SchemaVersion != 1 || event.Extraction.Status == "") {
		return nil, ErrNotOurs
	}
	return &event, nil
}

func decodeRecord(given []byte, event *Event) error {
	var one record
	if json.Unmarshal(given, &one) != nil || one.Dynamodb == nil {
		return ErrNotOurs
	}
	id, _ := one.Dynamodb.Keys["extractionId"]["S"].(string)
	*event = Event{Kind: kindOf(one), EventID: one.EventID, ExtractionID: id, SequenceNumber: one.Dynamodb.SequenceNumber}
	if one.EventName == "REMOVE" {
		return nil
	}
	if event.Kind == "" {
		return ErrNotOurs
	}
	plain := map[string]any{}
	for name, value := range one.Dynamodb.NewImage {
		plain[name] = withoutType(value)
	}
	written, err := json.Marshal(plain)
	if err == nil {
		err = json.Unmarshal(written, &event.Extraction)
	}
	return err
}

// kindOf is the table in docs/stream.md. It is empty without the images that the kind follows from.
func kindOf(one record) string {
	now, before := one.Dynamodb.NewImage, one.Dynamodb.OldImage
	if one.EventName == "REMOVE" {
		if user := one.UserIdentity; user != nil && user.Type == "Service" && user.PrincipalID == "dynamodb.amazonaws.com" {
			return "expired"
		}
		return "erased"
	}
	if now == nil || (before == nil && one.EventName != "INSERT") {
		return ""
	}
	if one.EventName == "INSERT" {
		return choose(now["status"]["S"] == "REQUESTED", "requested", "restored")
	}
	if now["status"]["S"] != before["status"]["S"] {
		if now["settledAt"] == nil {
			return choose(before["settledAt"] == nil, "progressed", "reopened")
		}
		return choose(before["settledAt"] == nil, "settled", "corrected")
	}
	if now["erasingAt"] != nil && before["erasingAt"] == nil {
		return "erasing"
	}
	if now["collectedAt"] != nil && before["collectedAt"] == nil {
		return "collected"
	}
	if now["collectionError"] != nil && now["collectionError"]["S"] != before["collectionError"]["S"] {
		return "not-collected"
	}
	return choose(now["advice"] != nil && now["advice"]["S"] != before["advice"]["S"], "advised", "housekeeping")
}

func choose(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

func withoutTypeOf(value any) any {
	typed, _ := value.(map[string]any)
	return withoutType(typed)
}

// withoutType is a value without its type in DynamoDB.
func withoutType(value map[string]any) any {
	for name, inner := range value {
		switch name {
		case "N":
			digits, _ := inner.(string)
			return json.Number(digits)
		case "M":
			fields, _ := inner.(map[string]any)
			for key, one := range fields {
				fields[key] = withoutTypeOf(one)
			}
			return fields
		case "L":
			list, _ := inner.([]any)
			for index, one := range list {
				list[index] = withoutTypeOf(one)
			}
			return list
		default:
			return inner
		}
	}
	return nil
}
