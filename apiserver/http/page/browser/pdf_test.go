// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"testing"
)

func TestPrint(t *testing.T) {
	for sheets := 1; sheets <= 3; sheets++ {
		t.Setenv(screenshotsEnv, t.TempDir())
		content := `<p>first</p>`
		for i := 1; i < sheets; i++ {
			content += fmt.Sprintf(`<p style="break-before: page">%d</p>`, i+1)
		}
		tab := Open(t, Options{})
		tab.Go("data:text/html," + content)
		if got := tab.Print("sheets"); got != sheets {
			t.Errorf("want %d sheets, got %d", sheets, got)
		}
	}
}
