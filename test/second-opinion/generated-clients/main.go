// Reads extractions with the generated client, and writes each as JSON in a line. Arguments: the address of the API, and ids.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"cosecha/generated-clients/cosecha"

	"github.com/google/uuid"
)

func read(client *cosecha.ClientWithResponses, id string) (any, error) {
	answer, err := client.GetExtractionWithResponse(context.Background(), uuid.MustParse(id))
	if err != nil {
		return nil, err
	}
	if answer.JSON200 == nil {
		return nil, fmt.Errorf("the answer is %s", answer.Status())
	}
	byCredentials, err := answer.JSON200.AsCredentialsExtraction()
	if err == nil && byCredentials.Method.Valid() {
		return byCredentials, nil
	}
	return answer.JSON200.AsConsentExtraction()
}

func main() {
	client, err := cosecha.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range os.Args[2:] {
		extraction, err := read(client, id)
		if err != nil {
			log.Fatal(err)
		}
		written, err := json.Marshal(extraction)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%T %s\n", extraction, written)
	}
}
