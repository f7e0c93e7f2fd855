// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

func TestReportExit(t *testing.T) {
	t.Parallel()
	foreign := fmt.Errorf("opening the embedded database: %w", &storage.WrongOwnerError{OwnerUID: "one", RequestedUID: "two"})
	for name, test := range map[string]struct {
		err  error
		code int
	}{"server fault": {errors.New("disk not found"), 0}, "foreign database": {foreign, 3}} {
		log := filepath.Join(t.TempDir(), "termination-log")
		writeFile(t, log, "an earlier message, which is longer than the current one: "+foreign.Error())
		err := reportExit(test.err, log)
		if message, readErr := os.ReadFile(log); string(message) != test.err.Error() || readErr != nil || !errors.Is(err, test.err) {
			t.Errorf("%s: got error %v and termination message %q, error %v", name, err, message, readErr)
		}
		var coder kong.ExitCoder
		if errors.As(err, &coder) != (test.code != 0) || test.code != 0 && coder.ExitCode() != test.code {
			t.Errorf("%s: got error %v, want exit code %d", name, err, test.code)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if err := reportExit(foreign, missing); !errors.Is(err, foreign) {
		t.Errorf("got error %v, want the foreign database error", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("termination log was created: %v", err)
	}
	if err := reportExit(nil, missing); err != nil {
		t.Errorf("got error %v, want none", err)
	}
}
