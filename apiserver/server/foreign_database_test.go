// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"os"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// TestForeignDatabase checks that a server whose database belongs to another Instance
// exits and names the owner, until its configuration adopts that Instance.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	command := writeTenantFiles(t, newTestCA(t), t.TempDir())
	writeFile(t, command.Config, "instance: {uid: former}")
	if err := startServer(t, command).stop(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, command.Config, "instance: {uid: present}")
	o, err := command.resolveOptions(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	o.log = discardLogger
	var foreign *storage.WrongOwnerError
	if err := run(t.Context(), o); !errors.As(err, &foreign) || foreign.OwnerUID != "former" {
		t.Errorf("run returned %v, want a WrongOwnerError", err)
	}
	writeFile(t, command.Config, "instance: {uid: present, adopts: [former]}")
	if err := startServer(t, command).stop(); err != nil {
		t.Fatal(err)
	}
}
