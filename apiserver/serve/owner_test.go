// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"os"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// A server whose database is another Instance's ends and says whose it is, until
// its configuration takes that over.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	command := tenantFiles(t, newAuthority(t), t.TempDir())
	write(t, command.Config, "instance: {uid: former}")
	if err := serving(t, command).stop(); err != nil {
		t.Fatal(err)
	}
	write(t, command.Config, "instance: {uid: present}")
	o, err := command.options(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	o.log = discard
	var foreign *storage.ForeignError
	if err := run(t.Context(), o); !errors.As(err, &foreign) || foreign.Marked != "former" {
		t.Errorf("ended with %v", err)
	}
	write(t, command.Config, "instance: {uid: present, adopts: [former]}")
	if err := serving(t, command).stop(); err != nil {
		t.Fatal(err)
	}
}
