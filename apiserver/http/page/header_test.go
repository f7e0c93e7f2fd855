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

// fetchPages returns pages of every kind.
func fetchPages(t *testing.T, c *fixture) map[string]pageResponse {
	t.Helper()
	made := c.createSurvey(surveySpec{})
	link := mustParse(t, c.magicLink(made))
	v, guest := c.openMagicLink(made), c.newVisitor()
	shown := map[string]pageResponse{
		"index": guest.get("/"), "link": guest.get(link.RequestURI()), "gone": guest.get("/survey/" + made.ID), "missing": guest.get("/survey/a/b/c"),
		"sign in": guest.get("/survey"), "sent": guest.post("/survey", url.Values{"contact": {"ada@portal.example"}}),
		"crossed": guest.post("/survey", nil, "Sec-Fetch-Site", "cross-site"), "left": guest.post("/survey/sign-out", nil),
		"start": v.get(v.survey), "answers": v.get(v.survey + "/answers"), "why": v.get(v.survey + "/why"), "emergency": v.get(v.survey + "/emergency"),
		"problem": v.post(v.question(0), nil),
	}
	shown["result"] = v.completeSurvey(healthyPatient("I have had a headache since yesterday"), v.question(0), func(s pageResponse) bool {
		shown["question "+s.path] = s
		return true
	})
	article, _ := findArticle(shown["result"], v.survey)
	shown["article"] = v.get(article)
	return shown
}

// TestHeaders checks that every page allows only its own styles, is not cached, and does not
// leak its URL.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, s := range fetchPages(t, newFixture(t)) {
		for header, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "strict-origin",
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Content-Language": "en",
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + styleHash(t, s) + "'; script-src 'self'; connect-src 'self'; " +
				"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if got := s.header.Get(header); got != want {
				t.Errorf("%s: got header %s: %s\nwant %s", name, header, got, want)
			}
		}
		if !strings.HasPrefix(s.body, `<!DOCTYPE html>`) || !strings.Contains(s.body, `<html lang="en" dir="ltr">`) || s.heading() == "" {
			t.Errorf("%s: got page %.100s with heading %q", name, s.body, s.heading())
		}
		for node := range s.tree().Descendants() {
			if attribute(node, "style") != "" || node.DataAtom == atom.Script && (node.FirstChild != nil || attribute(node, "src") == "") {
				t.Errorf("%s contains content forbidden by its policy: %v", name, node)
			}
		}
	}
}

// styleHash returns the hash of a page's single style element.
func styleHash(t *testing.T, s pageResponse) string {
	t.Helper()
	for node := range s.tree().Descendants() {
		if node.DataAtom == atom.Style {
			hash := sha256.Sum256([]byte(innerText(node)))
			return base64.StdEncoding.EncodeToString(hash[:])
		}
	}
	t.Errorf("%s has no style", s.path)
	return ""
}

// TestLanguageOfPages checks that pages use the language of the survey or, outside surveys,
// of the browser.
func TestLanguageOfPages(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	v := c.openMagicLink(c.createSurvey(surveySpec{Language: "de"}))
	for path, want := range map[string]string{v.survey: "de", v.question(0): "de", "/survey": "en-US", "/": "en-US", "/survey/x": "en-US"} {
		shown := v.get(path, "Accept-Language", "en-US,en;q=0.9")
		if got := shown.header.Get("Content-Language"); got != want || !strings.Contains(shown.body, `<html lang="`+want+`"`) {
			t.Errorf("%s: got language %s", path, got)
		}
	}
}

// TestPagesLoadNothingExternal checks that pages do not refer to other sites, except for
// links in articles.
func TestPagesLoadNothingExternal(t *testing.T) {
	t.Parallel()
	for name, s := range fetchPages(t, newFixture(t)) {
		for node := range s.tree().Descendants() {
			for _, key := range []string{"src", "href", "action"} {
				at := mustParse(t, attribute(node, key))
				if at.Host != "" && (node.DataAtom != atom.A || name != "article" || attribute(node, "rel") != "noreferrer") {
					t.Errorf("%s: %s links to %s", name, node.Data, at)
				}
			}
		}
	}
}

// Size limits of compressed pages, in bytes. A question fits into the initial congestion
// window of ten packets (RFC 6928) on any connection.
const (
	maxQuestionBytes = 14_000
	maxPageBytes     = 30_000
)

func TestPageSize(t *testing.T) {
	t.Parallel()
	most := map[bool]int{}
	for name, s := range fetchCompressed(t, newFixture(t)) {
		if !s.isCompressed {
			t.Errorf("%s is not compressed", name)
		}
		isQuestion := strings.HasPrefix(name, "question") && !strings.Contains(s.body, `class="region"`)
		most[isQuestion] = max(most[isQuestion], s.wireBytes)
		if s.wireBytes > maxPageBytes || isQuestion && s.wireBytes > maxQuestionBytes {
			t.Errorf("%s takes %d bytes", name, s.wireBytes)
		}
	}
	t.Logf("questions have up to %d bytes, other pages %d", most[true], most[false])
}

// fetchCompressed returns pages as browsers request them.
func fetchCompressed(t *testing.T, c *fixture) map[string]pageResponse {
	t.Helper()
	v := c.openMagicLink(c.createSurvey(surveySpec{}))
	shown := map[string]pageResponse{}
	again := func(name, path string) {
		s := v.get(path, "Accept-Encoding", "gzip")
		if s.isCompressed {
			s.body = gunzip(t, s.body)
		}
		shown[name] = s
	}
	again("start", v.survey)
	result := v.completeSurvey(healthyPatient("I have had a headache since yesterday"), v.question(0), func(s pageResponse) bool {
		if strings.Contains(s.path, "/questions/") {
			again("question "+s.path, s.path)
		}
		return true
	})
	again("result", result.path)
	article, _ := findArticle(result, v.survey)
	again("article", article)
	script, _, _ := strings.Cut(strings.SplitAfter(result.body, `<script src="`)[1], `"`)
	again("script", script)
	return shown
}

func gunzip(t *testing.T, body string) string {
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

// TestScriptIsCacheable checks that browsers cache the script until it changes.
func TestScriptIsCacheable(t *testing.T) {
	t.Parallel()
	v := newFixture(t).newVisitor()
	page := v.get("/survey")
	path, _, _ := strings.Cut(strings.SplitAfter(page.body, `<script src="`)[1], `"`)
	script := v.get(path)
	script.expect(t, http.StatusOK)
	if script.header.Get("Content-Type") != "text/javascript; charset=utf-8" || script.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("got header %v", script.header)
	}
}
