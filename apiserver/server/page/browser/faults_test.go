// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strings"
	"testing"
)

// broken is a site where everything goes wrong that is told of.
var broken = hangUp{site{
	"/": `<p style="color: red">red</p><img src="/other.png" alt=""><img src="/hang-up" alt="">
<script src="/writes.js"></script><script src="/throws.js"></script>`,
	"/writes.js": `console.log("fine"); console.error("broken", 7)`,
	"/throws.js": `throw new Error("thrown")`,
}}

// faulty are what is told of it, one each.
var faulty = []string{"console: broken 7", "exception: Error: thrown", "Content Security Policy", "404", "/hang-up"}

// What goes wrong in the page fails its test.
func TestFaults(t *testing.T) {
	t.Parallel()
	url := serve(t, broken)
	got := failures(t, func(t testing.TB) { Open(t, Options{}).Go(url) })
	if len(got) != len(faulty) {
		t.Errorf("the test failed with %q, want %d failures", got, len(faulty))
	}
	for _, want := range faulty {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("the test failed with %q, want %q among it", got, want)
		}
	}
}

// What was allowed does not, and all else still does.
func TestAllow(t *testing.T) {
	t.Parallel()
	url := serve(t, broken)
	got := failures(t, func(t testing.TB) {
		tab := Open(t, Options{})
		tab.Allow(faulty[1:]...)
		tab.Go(url)
	})
	if len(got) != 1 || !strings.Contains(got[0], faulty[0]) {
		t.Errorf("the test failed with %q, want %q alone", got, faulty[0])
	}
}
