// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A throttled network is slow: half a second per response, and 100 kB at 800 kbit/s, which takes
// one second.
func TestThrottleNetwork(t *testing.T) {
	t.Parallel()
	url := startSite(t, testSite{"/": "<p>" + strings.Repeat("word ", 20_000)})
	tab := Open(t, Options{})
	tab.Go(url)
	fast := loadTime(tab)
	tab.ThrottleNetwork(500*time.Millisecond, 800)
	tab.Go(url + "/?slow")
	if slow := loadTime(tab); slow < 1300*time.Millisecond || slow < fast {
		t.Errorf("loading took %s throttled and %s unthrottled", slow, fast)
	}
}

// loadTime returns the time from navigation until the document was loaded.
func loadTime(tab *Tab) time.Duration {
	const loadEnd = `new Promise(resolve => (function poll() {
		const end = performance.getEntriesByType("navigation")[0].loadEventEnd;
		end > 0 ? resolve(end) : setTimeout(poll, 10);
	})())`
	return time.Duration(Evaluate[float64](tab, loadEnd) * float64(time.Millisecond))
}

func TestRequests(t *testing.T) {
	t.Parallel()
	documents := http.NewServeMux()
	documents.Handle("/", testSite{"/": `<p>text</p><script src="/large.js"></script>`, "/large.js": strings.Repeat("// comment\n", 1000)})
	documents.Handle("/old", http.RedirectHandler("/", http.StatusSeeOther))
	tab := Open(t, Options{})
	url := startSite(t, documents)
	tab.Go(url + "/old")
	got := tab.Requests()
	if len(got) != 3 {
		t.Fatalf("got requests %+v, want three", got)
	}
	for i, want := range []Request{
		{URL: url + "/old", Method: "GET", Type: "Document", Status: http.StatusSeeOther},
		{URL: url + "/", Method: "GET", Type: "Document", Status: http.StatusOK},
		{URL: url + "/large.js", Method: "GET", Type: "Script", Status: http.StatusOK},
	} {
		want.Bytes = got[i].Bytes
		if got[i] != want {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
	if size := got[2].Bytes; size < 11_000 || size > 12_000 {
		t.Errorf("the script took %d bytes, want its 11000 and a header", size)
	}
	if size := got[0].Bytes; size <= 0 || size > 1000 {
		t.Errorf("the redirect took %d bytes", size)
	}
	tab.Reload()
	if again := tab.Requests(); len(again) != 2 {
		t.Errorf("got requests %+v after reloading the page, want two", again)
	}
}
