// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formPage is a document with fields and a second document behind them.
const formPage = `<main><h1>Form</h1>
<form action="/next">
  <label for="name">Name</label> <input id="name" name="person" value="old">
  <fieldset><legend>Sex</legend>
    <input type="radio" name="sex" id="f" value="f"><label for="f">Female</label>
    <input type="radio" name="sex" id="m" value="m"><label for="m">Male</label>
  </fieldset>
  <button id="send">Send</button>
</form></main>`

func TestKeyboard(t *testing.T) {
	t.Parallel()
	tab := Open(t, Options{})
	tab.Go(startSite(t, testSite{"/": formPage, "/next": `<p id="thanks">Thank you</p>`}))
	if got := tab.Focused().Tag; got != "body" {
		t.Errorf("initial focus is on %q", got)
	}
	tab.Press("Tab")
	if diff := cmp.Diff(Element{Tag: "input", ID: "name", Name: "person", Text: "old"}, tab.Focused()); diff != "" {
		t.Error(diff)
	}
	tab.Press("Tab", "Space", "ArrowDown")
	if got := tab.Focused().ID; got != "m" {
		t.Errorf("arrow key moved focus to %q, want m", got)
	}
	tab.Press("Shift+Tab", "N", "e", "w", "Tab", "Tab")
	if got := tab.Focused(); got.ID != "send" || got.Text != "Send" {
		t.Errorf("focus is on %+v, want the button", got)
	}
	tab.Press("Enter")
	tab.WaitVisible("#thanks")
	if got := tab.URL(); !strings.HasSuffix(got, "/next?person=New&sex=m") {
		t.Errorf("got URL %s", got)
	}
}

func TestMouse(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{"desktop": {}, "phone": {Mobile: true}, "no scripts": {NoJavaScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := Open(t, options)
			tab.Go(startSite(t, testSite{"/": formPage, "/next": `<p id="thanks">Thank <b>you</b><i hidden>not</i></p>`}))
			tab.Fill("#name", "Zoë Müller")
			tab.Click("label[for=f]")
			tab.Click("#send")
			tab.WaitVisible("#thanks")
			if got := tab.URL(); !strings.HasSuffix(got, "/next?person=Zo%C3%AB+M%C3%BCller&sex=f") {
				t.Errorf("got URL %s", got)
			}
			if got := tab.Text("#thanks"); got != "Thank you" {
				t.Errorf("got text %q", got)
			}
			if !tab.Exists("#thanks") || tab.Exists("#name") {
				t.Error("Exists returned wrong results")
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	tab := Open(t, Options{})
	tab.Go(startSite(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`<p>Once more`))
	})))
	if got := tab.Status(); got != http.StatusUnprocessableEntity {
		t.Errorf("got status %d", got)
	}
}

// Tabs do not share cookies.
func TestTabsAreIsolated(t *testing.T) {
	t.Parallel()
	url := startSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("seen")
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<p>` + map[bool]string{true: "again", false: "new"}[err == nil]))
	}))
	first, second := Open(t, Options{}), Open(t, Options{})
	first.Go(url)
	first.Reload()
	second.Go(url)
	if first.Text("p") != "again" || second.Text("p") != "new" {
		t.Errorf("got %q and %q", first.Text("p"), second.Text("p"))
	}
}

func TestUnknownKey(t *testing.T) {
	t.Parallel()
	got := recordFailures(t, func(t testing.TB) { Open(t, Options{}).Press("Tabulator") })
	if len(got) != 1 || !strings.Contains(got[0], `unknown key "Tabulator"`) {
		t.Errorf("got %q", got)
	}
}
