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

// An Example is an example request of a contract.
type Example struct {
	// Name consists of the method, the path and the example's name in the contract.
	Name string
	// Method and Path are the request line; the path includes the query.
	Method, Path string
	Body         string // JSON; empty if the operation has no body
	// HasResponse reports whether the contract has an example response as well.
	HasResponse bool
	// Response is the example response to this request, as JSON: the one with the same
	// name, or the only one for an operation without a body; empty if the contract has
	// none.
	Response string
}

// Examples returns the example requests of the contract, sorted by name: one for each
// example body of an operation, with the path and query made of the parameter examples.
func (c *Contract) Examples() []Example { return c.examples }

func listExamples(document *openapi3.T, base string) []Example {
	var examples []Example
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			example := Example{Name: method + " " + base + path, Method: method, Path: base + examplePath(path, operation)}
			bodies, responses := requestExamples(operation), responseExamples(operation)
			example.HasResponse = len(responses) > 0
			if len(bodies) == 0 {
				if len(responses) == 1 {
					example.Response = slices.Collect(maps.Values(responses))[0]
				}
				examples = append(examples, example)
			}
			for name, body := range bodies {
				withBody := example
				withBody.Name, withBody.Body, withBody.Response = example.Name+" "+name, body, responses[name]
				examples = append(examples, withBody)
			}
		}
	}
	slices.SortFunc(examples, func(a, b Example) int { return strings.Compare(a.Name, b.Name) })
	return examples
}

// examplePath fills the examples of an operation's parameters into the path and the query.
func examplePath(path string, operation *openapi3.Operation) string {
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

// requestExamples returns the example bodies of an operation, by name.
func requestExamples(operation *openapi3.Operation) map[string]string {
	if operation.RequestBody == nil {
		return nil
	}
	return mediaTypeExamples(operation.RequestBody.Value.Content)
}

// responseExamples returns the examples of an operation's 200 response, by name.
func responseExamples(operation *openapi3.Operation) map[string]string {
	response := operation.Responses.Value("200")
	if response == nil {
		return nil
	}
	return mediaTypeExamples(response.Value.Content)
}

// mediaTypeExamples returns the JSON examples of a content, by name.
func mediaTypeExamples(content openapi3.Content) map[string]string {
	list, media := map[string]string{}, content.Get("application/json")
	if media == nil {
		return list
	}
	for name, example := range media.Examples {
		text, err := json.Marshal(example.Value.Value)
		if err != nil {
			panic(err) // values parsed from YAML always marshal
		}
		list[name] = string(text)
	}
	return list
}
