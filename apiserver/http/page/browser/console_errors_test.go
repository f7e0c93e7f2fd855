// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strings"
	"testing"
)

// brokenSite triggers every kind of reported error.
var brokenSite = connectionCloser{testSite{
	"/": `<p style="color: red">red</p><img src="/other.png" alt=""><img src="/hang-up" alt="">
<script src="/writes.js"></script><script src="/throws.js"></script>`,
	"/writes.js": `console.log("fine"); console.error("broken", 7)`,
	"/throws.js": `throw new Error("thrown")`,
}}

// expectedErrors are its reported errors, one each.
var expectedErrors = []string{"console: broken 7", "exception: Error: thrown", "Content Security Policy", "404", "/hang-up"}

// Errors in the page fail the test.
func TestPageErrorsFailTest(t *testing.T) {
	t.Parallel()
	url := startSite(t, brokenSite)
	got := recordFailures(t, func(t testing.TB) { Open(t, Options{}).Go(url) })
	if len(got) != len(expectedErrors) {
		t.Errorf("the test failed with %q, want %d failures", got, len(expectedErrors))
	}
	for _, want := range expectedErrors {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("the test failed with %q, want %q among the failures", got, want)
		}
	}
}

// Ignored errors do not, and all others still do.
func TestIgnoreErrors(t *testing.T) {
	t.Parallel()
	url := startSite(t, brokenSite)
	got := recordFailures(t, func(t testing.TB) {
		tab := Open(t, Options{})
		tab.IgnoreErrors(expectedErrors[1:]...)
		tab.Go(url)
	})
	if len(got) != 1 || !strings.Contains(got[0], expectedErrors[0]) {
		t.Errorf("the test failed with %q, want only %q", got, expectedErrors[0])
	}
}
