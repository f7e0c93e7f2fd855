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
	// Answer is the example of the answer to this very request, as JSON: the
	// one of the same name, for an operation without a body the only one;
	// empty when there is none.
	Answer string
}

// Examples are the requests that the contract gives as examples, in order of
// their names: for each operation one with each example of its body, on the
// path and with the query that the examples of its parameters make.
func (c *Contract) Examples() []Example { return c.examples }

func examplesOf(document *openapi3.T, base string) []Example {
	var examples []Example
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			example := Example{Name: method + " " + base + path, Method: method, Path: base + exampleAddress(path, operation)}
			bodies, answers := bodiesOf(operation), answersOf(operation)
			example.Answers = len(answers) > 0
			if len(bodies) == 0 {
				if len(answers) == 1 {
					example.Answer = slices.Collect(maps.Values(answers))[0]
				}
				examples = append(examples, example)
			}
			for name, body := range bodies {
				withBody := example
				withBody.Name, withBody.Body, withBody.Answer = example.Name+" "+name, body, answers[name]
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
	if operation.RequestBody == nil {
		return nil
	}
	return texts(operation.RequestBody.Value.Content)
}

// answersOf are the examples of an operation's answer 200, by name.
func answersOf(operation *openapi3.Operation) map[string]string {
	answer := operation.Responses.Value("200")
	if answer == nil {
		return nil
	}
	return texts(answer.Value.Content)
}

// texts are the examples of a content, by name, as JSON.
func texts(content openapi3.Content) map[string]string {
	list, media := map[string]string{}, content.Get("application/json")
	if media == nil {
		return list
	}
	for name, example := range media.Examples {
		text, err := json.Marshal(example.Value.Value)
		if err != nil {
			panic(err) // it was read from YAML
		}
		list[name] = string(text)
	}
	return list
}
