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

// A Scheme is how the caller of an operation authenticates: the security schemes of the
// contract that it requires together, joined with a plus sign.
type Scheme string

// The schemes of the contracts.
const (
	SchemeAccessToken       Scheme = "accessToken"                  // Authorization: Bearer
	SchemeClientCredentials Scheme = "application"                  // Authorization: Basic
	SchemeApplicationKey    Scheme = "applicationID+applicationKey" // App-Id and App-Key
)

// Operation is an operation of a contract and who may perform it.
type Operation struct {
	ID     string // operationId
	Public bool   // whether everyone may perform it, without authentication
	Scheme Scheme
	Scopes []identity.Scope // required scopes, in the order of AllScopes
	Kinds  []identity.Kind  // kinds of principal that may perform it
}

// Operations are the operations of contracts by method and path, such as
// "GET /v3/conditions/{id}".
type Operations map[string]Operation

// Lookup returns the operation with a method and a path as the contract writes it. If no
// contract has it, Lookup returns the zero Operation, which is denied to everyone.
func (o Operations) Lookup(method, path string) Operation { return o[method+" "+path] }

// LoadOperations returns the operations of the embedded contracts. The caller must not
// change them.
var LoadOperations = sync.OnceValues(func() (Operations, error) {
	return ParseOperations(openapi.EngineV3, openapi.Guidance)
})

// ParseOperations parses the operations of contracts. It rejects an operation without
// security, so that an operation is public only if its contract says so.
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

// contract is the part of an OpenAPI contract that states who may call it.
type contract struct {
	Servers  []struct{ URL string }
	Security *[]requirement // of operations without their own
	Paths    map[string]struct {
		Get, Put, Post, Delete, Options, Head, Patch, Trace *contractOperation
	}
}

// requirement is a security requirement: scopes by security scheme.
type requirement map[string][]string

type contractOperation struct {
	OperationID string          `yaml:"operationId"`
	Security    *[]requirement  // nil if unset, empty for a public operation
	Principals  []identity.Kind `yaml:"x-principals"` // defaults to every kind
}

// addTo adds the operations of the contract to others.
func (c *contract) addTo(operations Operations) error {
	base := ""
	if len(c.Servers) > 0 {
		base = strings.TrimSuffix(c.Servers[0].URL, "/")
	}
	for path, item := range c.Paths {
		for method, operation := range map[string]*contractOperation{
			http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post, http.MethodDelete: item.Delete,
			http.MethodOptions: item.Options, http.MethodHead: item.Head, http.MethodPatch: item.Patch, http.MethodTrace: item.Trace,
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
				return fmt.Errorf("API contract: %s: already exists in another contract", name)
			}
			operations[name] = parsed
		}
	}
	return nil
}

// parse returns the operation; security applies if it has none of its own.
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
		return Operation{}, errors.New("no security; set it to [] for a public operation")
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
