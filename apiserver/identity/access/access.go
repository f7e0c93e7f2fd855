// SPDX-License-Identifier: Apache-2.0

// Package access decides what an authenticated principal may do. Authorize decides whether it
// may perform an operation, based on the security requirements in the API contracts, and the
// functions in resources.go decide whether it may see a resource. Everything that is not
// explicitly allowed is denied.
//
// The decisions are pure. Authenticating principals belongs in package identity, loading
// resources in the services, and status codes and messages in the HTTP packages.
package access

import (
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
)

// DeniedError reports that a principal may not perform an operation.
type DeniedError struct {
	OperationID string // empty if no contract defines the operation
	// MissingScope is the scope that the principal lacks. It is empty if principals of this
	// kind may not perform the operation at all.
	MissingScope identity.Scope
}

// Error returns the reason.
func (e *DeniedError) Error() string {
	switch {
	case e.OperationID == "":
		return "unknown operation is not allowed for any kind of principal"
	case e.MissingScope != "":
		return fmt.Sprintf("%s requires the scope %s", e.OperationID, e.MissingScope)
	}
	return fmt.Sprintf("%s is not allowed for this kind of principal", e.OperationID)
}

// Authorize returns nil if the principal may perform the operation, or a *DeniedError. No
// principal may perform the zero Operation, and the zero Principal may perform only public operations.
func Authorize(principal identity.Principal, operation Operation) error {
	if operation.Public {
		return nil
	}
	if !slices.Contains(operation.Kinds, principal.Kind()) {
		return &DeniedError{OperationID: operation.ID}
	}
	for _, scope := range operation.Scopes {
		if !principal.HasScope(scope) {
			return &DeniedError{OperationID: operation.ID, MissingScope: scope}
		}
	}
	return nil
}
