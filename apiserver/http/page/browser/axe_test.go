// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strings"
	"testing"
)

// flawedPage is a document with an unlabeled field.
const flawedPage = `<main><h1>Flawed</h1><form><input id="bare"></form></main>`

// Axe works under a policy that forbids its script, and with JavaScript disabled. It does not
// run the page's own script.
func TestAxeReportsViolations(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{"scripts": {}, "no scripts": {NoJavaScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := Open(t, options)
			tab.Go(startSite(t, testSite{"/": flawedPage + `<script src="/mark.js"></script>`, "/mark.js": `document.body.dataset.ran = "yes"`}))
			found := tab.Axe()
			if len(found) != 1 || found[0].Rule != "label" {
				t.Fatalf("got %v, want the missing label alone", found)
			}
			message := found[0].String()
			for _, want := range []string{"label (critical)", "#bare", `<input id="bare">`} {
				if !strings.Contains(message, want) {
					t.Errorf("message does not contain %q: %s", want, message)
				}
			}
			if ran := tab.Exists("[data-ran=yes]"); ran == options.NoJavaScript {
				t.Errorf("page script ran: %t", ran)
			}
			if Evaluate[bool](tab, `"axe" in window`) {
				t.Error("axe is visible to the page's scripts")
			}
		})
	}
}

func TestAxeWithNamedRules(t *testing.T) {
	t.Parallel()
	tab := openPage(t, Options{}, flawedPage)
	if found := tab.Axe("image-alt"); len(found) > 0 {
		t.Errorf("got violations %v of another rule", found)
	}
	if found := tab.Axe("label"); len(found) != 1 {
		t.Errorf("got violations %v", found)
	}
}

// The default rules include WCAG 2.2 and best practices.
func TestAxeDefaultRules(t *testing.T) {
	t.Parallel()
	tab := Open(t, Options{})
	tab.Go(startSite(t, testSite{
		"/":      `<link rel="stylesheet" href="/s.css"><h1>Rules</h1><main><button>x</button><button>y</button></main>`,
		"/s.css": `button { all: unset; width: 9px; height: 9px }`,
	}))
	rules := map[string]bool{}
	for _, violation := range tab.Axe() {
		rules[violation.Rule] = true
	}
	if !rules["region"] || !rules["target-size"] {
		t.Errorf("best-practice and target-size rules did not run, only %v", rules)
	}
}
