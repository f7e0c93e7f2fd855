// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strings"
	"testing"
)

func TestHasHorizontalOverflow(t *testing.T) {
	t.Parallel()
	const wide = `<table width="900"><tr><td>wide</td></tr></table>`
	for name, test := range map[string]struct {
		options Options
		content string
		want    bool
	}{
		"desktop":          {Options{}, wide, false},
		"wide when zoomed": {Options{Zoom: 4}, wide, true},
		"wide on a phone":  {Options{Mobile: true}, wide, true},
		"phone":            {Options{Mobile: true}, "<p>short</p>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := openPage(t, test.options, test.content).HasHorizontalOverflow(); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestSmallTargets(t *testing.T) {
	t.Parallel()
	tab := Open(t, Options{})
	tab.Go(startSite(t, testSite{"/s.css": "label { display: inline-block; padding: 1em }", "/": `
<link rel="stylesheet" href="/s.css">
<p>Read <a href="#" id="in-sentence">this</a> first.</p>
<p><a href="#" id="alone">x</a></p>
<input type="checkbox" id="bare">
<input type="checkbox" id="labelled"><label for="labelled">Yes</label>
<input type="image" width="40" height="40" id="large" alt="large">
<button hidden id="hidden">x</button><input type="hidden">`}))
	var found []string
	for _, target := range tab.SmallTargets() {
		for _, id := range []string{"in-sentence", "alone", "bare", "labelled", "large", "hidden"} {
			if strings.Contains(target.HTML, `id="`+id+`"`) {
				found = append(found, id)
			}
		}
		if message := target.String(); !strings.Contains(message, "smaller than 24 by 24") {
			t.Errorf("got message %q", message)
		}
	}
	if got := strings.Join(found, " "); got != "alone bare" {
		t.Errorf("got small targets %s, want alone and bare", got)
	}
}
