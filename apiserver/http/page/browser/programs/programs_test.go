// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "axe.min.js")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(AxeEnv, file)
	if got, err := Path(AxeEnv); err != nil || got != file {
		t.Errorf("got %q, %v, want %q", got, err, file)
	}
	t.Setenv(AxeEnv, file+".gone")
	if _, err := Path(AxeEnv); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: got error %v", err)
	}
	t.Setenv(AxeEnv, "")
	if _, err := Path(AxeEnv); !errors.Is(err, ErrUnset) {
		t.Errorf("got error %v, want one that names the command to set the variable", err)
	}
}
