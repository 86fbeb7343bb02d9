// Reads extractions with the generated client, and writes each as JSON in a line, or the error that it got instead. Arguments: the address of
// the API, and ids.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"

	"cosecha/generated-clients/cosecha"

	"github.com/google/uuid"
)

// What the client has parsed of an answer, and its name in the output.
func read(client *cosecha.ClientWithResponses, id string) (string, any, error) {
	answer, err := client.GetExtractionWithResponse(context.Background(), uuid.MustParse(id))
	if err != nil {
		return "", nil, err
	}
	if answer.JSON200 == nil {
		return fmt.Sprintf("Error %d", answer.StatusCode()), problemOf(answer), nil
	}
	byCredentials, err := answer.JSON200.AsCredentialsExtraction()
	if err == nil && byCredentials.Method.Valid() {
		return fmt.Sprintf("%T", byCredentials), byCredentials, nil
	}
	byConsent, err := answer.JSON200.AsConsentExtraction()
	return fmt.Sprintf("%T", byConsent), byConsent, err
}

// The problem is in a field with a name of its own for each status and media type.
func problemOf(answer *cosecha.GetExtractionResponse) *cosecha.Problem {
	fields := reflect.ValueOf(answer).Elem()
	for index := range fields.NumField() {
		problem, isProblem := fields.Field(index).Interface().(*cosecha.Problem)
		if isProblem && problem != nil {
			return problem
		}
	}
	return nil
}

func main() {
	client, err := cosecha.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range os.Args[2:] {
		name, parsed, err := read(client, id)
		if err != nil {
			log.Fatal(err)
		}
		written, err := json.Marshal(parsed)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s\n", name, written)
	}
}
