// SPDX-License-Identifier: Apache-2.0

// Package accesstest provides the operations of the API contracts to tests that serve the
// APIs. Only tests may import it.
package accesstest

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
)

// Operations returns the operations of the embedded contracts.
func Operations(t testing.TB) access.Operations {
	t.Helper()
	operations, err := access.LoadOperations()
	if err != nil {
		t.Fatal(err)
	}
	return operations
}
