// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

// A Scheme identifies how callers of an operation authenticate. It joins the names of the
// security schemes that the operation requires with plus signs.
type Scheme string

// Schemes used by the contracts.
const (
	SchemeAccessToken       Scheme = "accessToken"                  // Authorization: Bearer
	SchemeClientCredentials Scheme = "application"                  // Authorization: Basic
	SchemeApplicationKey    Scheme = "applicationID+applicationKey" // App-Id and App-Key
)

// Operation describes a contract operation and the principals that may perform it.
type Operation struct {
	ID     string // operationId
	Public bool   // whether the operation requires no authentication
	Scheme Scheme
	Scopes []identity.Scope // required scopes, in the order of AllScopes
	Kinds  []identity.Kind  // kinds of principals that may perform the operation
}

// Operations maps methods and paths, such as "GET /v3/conditions/{id}", to contract
// operations.
type Operations map[string]Operation

// Lookup returns the operation for a method and a path template of a contract. If no contract
// defines it, Lookup returns the zero Operation, which no principal may perform.
func (o Operations) Lookup(method, path string) Operation { return o[method+" "+path] }

// LoadOperations returns the operations of the embedded contracts. The caller must not
// change them.
var LoadOperations = sync.OnceValues(func() (Operations, error) {
	return ParseOperations(openapi.EngineV3, openapi.Guidance)
})

// ParseOperations parses the operations of contracts. It rejects operations without a
// security requirement, so that an operation is public only if its contract explicitly
// declares it public.
func ParseOperations(contracts ...[]byte) (Operations, error) {
	operations := Operations{}
	for _, text := range contracts {
		var parsed contract
		if err := yaml.Unmarshal(text, &parsed); err != nil {
			return nil, fmt.Errorf("parsing API contract: %w", err)
		}
		if err := parsed.addTo(operations); err != nil {
			return nil, err
		}
	}
	return operations, nil
}

// contract is the subset of an OpenAPI contract that defines operations and their security
// requirements.
type contract struct {
	Servers  []struct{ URL string }
	Security *[]requirement // default for operations that declare none
	Paths    map[string]struct {
		Get, Put, Post, Delete, Options, Head, Patch, Trace *contractOperation
	}
}

// requirement is a security requirement: the required scopes by security scheme.
type requirement map[string][]string

type contractOperation struct {
	OperationID string          `yaml:"operationId"`
	Security    *[]requirement  // nil if unset, empty for a public operation
	Principals  []identity.Kind `yaml:"x-principals"` // defaults to every kind
}

// addTo adds the contract's operations to operations.
func (c *contract) addTo(operations Operations) error {
	base := ""
	if len(c.Servers) > 0 {
		base = strings.TrimSuffix(c.Servers[0].URL, "/")
	}
	for path, pathItem := range c.Paths {
		for method, operation := range map[string]*contractOperation{
			http.MethodGet: pathItem.Get, http.MethodPut: pathItem.Put, http.MethodPost: pathItem.Post, http.MethodDelete: pathItem.Delete,
			http.MethodOptions: pathItem.Options, http.MethodHead: pathItem.Head, http.MethodPatch: pathItem.Patch, http.MethodTrace: pathItem.Trace,
		} {
			if operation == nil {
				continue
			}
			name := method + " " + base + path
			parsed, err := operation.parse(c.Security)
			if err != nil {
				return fmt.Errorf("API contract: %s: %w", name, err)
			}
			if _, exists := operations[name]; exists {
				return fmt.Errorf("API contract: %s is defined in more than one contract", name)
			}
			operations[name] = parsed
		}
	}
	return nil
}

// parse returns the operation. If it declares no security, the given default applies.
func (o *contractOperation) parse(security *[]requirement) (Operation, error) {
	if o.Security != nil {
		security = o.Security
	}
	parsed := Operation{ID: o.OperationID, Kinds: o.Principals}
	if parsed.Kinds == nil {
		parsed.Kinds = identity.AllKinds()
	}
	for _, kind := range parsed.Kinds {
		if !slices.Contains(identity.AllKinds(), kind) {
			return Operation{}, fmt.Errorf("unknown kind %q in x-principals; valid kinds: %v", kind, identity.AllKinds())
		}
	}
	switch {
	case security == nil:
		return Operation{}, errors.New("missing security; set it to [] for a public operation")
	case len(*security) == 0:
		parsed.Public = true
		return parsed, nil
	case len(*security) > 1 || len((*security)[0]) == 0:
		return Operation{}, errors.New("security must be a single requirement; alternatives are not supported")
	}
	var err error
	parsed.Scheme, parsed.Scopes, err = (*security)[0].parse()
	return parsed, err
}

// parse returns the scheme and the scopes of a requirement.
func (r requirement) parse() (Scheme, []identity.Scope, error) {
	var required []string
	schemes := slices.Sorted(maps.Keys(r))
	for _, scheme := range schemes {
		required = append(required, r[scheme]...)
	}
	scopes, err := identity.ParseScopes(strings.Join(required, " "))
	return Scheme(strings.Join(schemes, "+")), scopes, err
}
