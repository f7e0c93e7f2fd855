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
	t.Setenv(Axe, file)
	if got, err := Path(Axe); err != nil || got != file {
		t.Errorf("got %q, %v, want %q", got, err, file)
	}
	t.Setenv(Axe, file+".gone")
	if _, err := Path(Axe); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v of a file that is not there", err)
	}
	t.Setenv(Axe, "")
	if _, err := Path(Axe); !errors.Is(err, ErrUnset) {
		t.Errorf("got error %v, want one that says what sets it", err)
	}
}
