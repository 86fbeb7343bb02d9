// Reads extractions with the generated client, and writes each as JSON in a line. Of an address below /errors, it calls every route, and
// writes the errors that they got. Arguments: the address of the API, and ids or such addresses.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"

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

// The status of the answer to a call, and the problem that the client has parsed of it, which is in a field with a name of its own for each
// status and media type.
func problemOf(answer reflect.Value) (int64, *cosecha.Problem) {
	for index := range answer.Elem().NumField() {
		problem, isProblem := answer.Elem().Field(index).Interface().(*cosecha.Problem)
		if isProblem && problem != nil {
			return answer.MethodByName("StatusCode").Call(nil)[0].Int(), problem
		}
	}
	return answer.MethodByName("StatusCode").Call(nil)[0].Int(), nil
}

func callEveryRoute(client *cosecha.ClientWithResponses, address string) error {
	all := reflect.ValueOf(client)
	for index := range all.NumMethod() {
		name := all.Type().Method(index).Name
		if !strings.HasSuffix(name, "WithResponse") || strings.HasSuffix(name, "WithBodyWithResponse") {
			continue
		}
		method := all.Method(index)
		// Without parameters and bodies: the server answers all the same.
		arguments := []reflect.Value{reflect.ValueOf(context.Background())}
		for at := 1; at < method.Type().NumIn()-1; at += 1 {
			arguments = append(arguments, reflect.Zero(method.Type().In(at)))
		}
		answers := method.Call(arguments)
		if err, isError := answers[1].Interface().(error); isError {
			return fmt.Errorf("%s: %w", name, err)
		}
		status, problem := problemOf(answers[0])
		written, err := json.Marshal(problem)
		if err != nil {
			return err
		}
		fmt.Printf("Error %s %s %d %s\n", address, strings.TrimSuffix(name, "WithResponse"), status, written)
	}
	return nil
}

func main() {
	client, err := cosecha.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, argument := range os.Args[2:] {
		if strings.HasPrefix(argument, "/errors") {
			failing, err := cosecha.NewClientWithResponses(os.Args[1] + argument)
			if err == nil {
				err = callEveryRoute(failing, argument)
			}
			if err != nil {
				log.Fatal(err)
			}
			continue
		}
		extraction, err := read(client, argument)
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
