// SPDX-License-Identifier: Apache-2.0

package openapitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// An Example is a request that a contract gives as an example.
type Example struct {
	// Name is the method, the path and what the contract calls the example.
	Name string
	// Method and Path are what to call; the path has the query.
	Method, Path string
	Body         string // JSON; empty where the operation has none
	// Answers says that the contract has an example of an answer, too.
	Answers bool
}

// Examples are the requests that the contract gives as examples, in order of
// their names: for each operation one with each example of its body, on the
// path and with the query that the examples of its parameters make.
func (c *Contract) Examples() []Example { return c.examples }

func examplesOf(document *openapi3.T, base string) []Example {
	var examples []Example
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			example := Example{
				Name: method + " " + base + path, Method: method, Path: base + exampleAddress(path, operation), Answers: answers(operation),
			}
			bodies := bodiesOf(operation)
			if len(bodies) == 0 {
				examples = append(examples, example)
			}
			for name, body := range bodies {
				withBody := example
				withBody.Name, withBody.Body = example.Name+" "+name, body
				examples = append(examples, withBody)
			}
		}
	}
	slices.SortFunc(examples, func(a, b Example) int { return strings.Compare(a.Name, b.Name) })
	return examples
}

// exampleAddress puts the examples of an operation's parameters in their place.
func exampleAddress(path string, operation *openapi3.Operation) string {
	query := url.Values{}
	for _, parameter := range operation.Parameters {
		p := parameter.Value
		if p.Example == nil {
			continue
		}
		switch value := fmt.Sprint(p.Example); p.In {
		case openapi3.ParameterInPath:
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
		case openapi3.ParameterInQuery:
			query.Set(p.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// bodiesOf are the examples of an operation's body, by name.
func bodiesOf(operation *openapi3.Operation) map[string]string {
	bodies := map[string]string{}
	if operation.RequestBody == nil {
		return bodies
	}
	for name, example := range operation.RequestBody.Value.Content.Get("application/json").Examples {
		body, err := json.Marshal(example.Value.Value)
		if err != nil {
			panic(err) // it was read from YAML
		}
		bodies[name] = string(body)
	}
	return bodies
}

// answers reports whether an operation has an example of its answer 200.
func answers(operation *openapi3.Operation) bool {
	answer := operation.Responses.Value("200")
	if answer == nil {
		return false
	}
	for media := range maps.Values(answer.Value.Content) {
		if len(media.Examples) > 0 {
			return true
		}
	}
	return false
}
