// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"
)

// pages are some of every kind, as they are answered.
func pages(t *testing.T, c *clinic) map[string]shownPage {
	t.Helper()
	made := c.survey(wish{})
	link := mustParse(t, c.link(made))
	v, guest := c.opened(made), c.visitor()
	shown := map[string]shownPage{
		"index": guest.get("/"), "link": guest.get(link.RequestURI()), "gone": guest.get("/survey/" + made.ID), "missing": guest.get("/survey/a/b/c"),
		"sign in": guest.get("/survey"), "sent": guest.post("/survey", url.Values{"contact": {"ada@portal.example"}}),
		"crossed": guest.post("/survey", nil, "Sec-Fetch-Site", "cross-site"), "left": guest.post("/survey/sign-out", nil),
		"start": v.get(v.survey), "answers": v.get(v.survey + "/answers"), "why": v.get(v.survey + "/why"), "emergency": v.get(v.survey + "/emergency"),
		"problem": v.post(v.question(0), nil),
	}
	shown["result"] = v.walk(healthy("I have had a headache since yesterday"), v.question(0), func(s shownPage) bool {
		shown["question "+s.path] = s
		return true
	})
	article, _ := articleOf(shown["result"], v.survey)
	shown["article"] = v.get(article)
	return shown
}

// Every page lets in its own style and nothing else, stays in no cache, and tells no
// other site where it is.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, s := range pages(t, newClinic(t)) {
		for header, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "strict-origin",
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Content-Language": "en",
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + hashOfStyle(t, s) + "'; script-src 'self'; connect-src 'self'; " +
				"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if got := s.header.Get(header); got != want {
				t.Errorf("%s has %s: %s\nwant %s", name, header, got, want)
			}
		}
		if !strings.HasPrefix(s.body, `<!DOCTYPE html>`) || !strings.Contains(s.body, `<html lang="en" dir="ltr">`) || s.heading() == "" {
			t.Errorf("%s begins with %.100s and has the heading %q", name, s.body, s.heading())
		}
		for node := range s.tree().Descendants() {
			if attribute(node, "style") != "" || node.DataAtom == atom.Script && (node.FirstChild != nil || attribute(node, "src") == "") {
				t.Errorf("%s has in it what its policy does not let in: %v", name, node)
			}
		}
	}
}

// hashOfStyle is that of the one style of a page.
func hashOfStyle(t *testing.T, s shownPage) string {
	t.Helper()
	for node := range s.tree().Descendants() {
		if node.DataAtom == atom.Style {
			hash := sha256.Sum256([]byte(inner(node)))
			return base64.StdEncoding.EncodeToString(hash[:])
		}
	}
	t.Errorf("%s has no style", s.path)
	return ""
}

// Each page speaks the language of the survey, or, of none, that of the browser.
func TestLanguageOfPages(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	v := c.opened(c.survey(wish{Language: "de"}))
	for path, want := range map[string]string{v.survey: "de", v.question(0): "de", "/survey": "en-US", "/": "en-US", "/survey/x": "en-US"} {
		shown := v.get(path, "Accept-Language", "en-US,en;q=0.9")
		if got := shown.header.Get("Content-Language"); got != want || !strings.Contains(shown.body, `<html lang="`+want+`"`) {
			t.Errorf("%s is in %s", path, got)
		}
	}
}

// What stands in a page leads to no other site, but for the links of an article.
func TestNothingComesFromElsewhere(t *testing.T) {
	t.Parallel()
	for name, s := range pages(t, newClinic(t)) {
		for node := range s.tree().Descendants() {
			for _, key := range []string{"src", "href", "action"} {
				at := mustParse(t, attribute(node, key))
				if at.Host != "" && (node.DataAtom != atom.A || name != "article" || attribute(node, "rel") != "noreferrer") {
					t.Errorf("%s: %s leads to %s", name, node.Data, at)
				}
			}
		}
	}
}

// The most that pages have on their way, in bytes: a question comes with what a server
// sends at first, the first ten packets (RFC 6928), whatever the line.
const (
	mostOfQuestion = 14_000
	mostOfPage     = 30_000
)

func TestBytes(t *testing.T) {
	t.Parallel()
	most := map[bool]int{}
	for name, s := range compressed(t, newClinic(t)) {
		if !s.isCompressed {
			t.Errorf("%s is not compressed", name)
		}
		isQuestion := strings.HasPrefix(name, "question") && !strings.Contains(s.body, `class="region"`)
		most[isQuestion] = max(most[isQuestion], s.transmitted)
		if s.transmitted > mostOfPage || isQuestion && s.transmitted > mostOfQuestion {
			t.Errorf("%s has %d bytes", name, s.transmitted)
		}
	}
	t.Logf("questions have up to %d bytes, other pages %d", most[true], most[false])
}

// compressed are pages as browsers ask for them.
func compressed(t *testing.T, c *clinic) map[string]shownPage {
	t.Helper()
	v := c.opened(c.survey(wish{}))
	shown := map[string]shownPage{}
	again := func(name, path string) {
		s := v.get(path, "Accept-Encoding", "gzip")
		if s.isCompressed {
			s.body = inflated(t, s.body)
		}
		shown[name] = s
	}
	again("start", v.survey)
	result := v.walk(healthy("I have had a headache since yesterday"), v.question(0), func(s shownPage) bool {
		if strings.Contains(s.path, "/questions/") {
			again("question "+s.path, s.path)
		}
		return true
	})
	again("result", result.path)
	article, _ := articleOf(result, v.survey)
	again("article", article)
	script, _, _ := strings.Cut(strings.SplitAfter(result.body, `<script src="`)[1], `"`)
	again("script", script)
	return shown
}

func inflated(t *testing.T, body string) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The script is kept by browsers for as long as it is the same.
func TestScript(t *testing.T) {
	t.Parallel()
	v := newClinic(t).visitor()
	page := v.get("/survey")
	path, _, _ := strings.Cut(strings.SplitAfter(page.body, `<script src="`)[1], `"`)
	script := v.get(path)
	script.is(t, http.StatusOK)
	if script.header.Get("Content-Type") != "text/javascript; charset=utf-8" || script.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("it is answered with %v", script.header)
	}
}
