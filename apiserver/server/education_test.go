// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

func text(words string) object { return object{"node_type": "text", "value": words} }

func node(of string, content ...any) object {
	if content == nil {
		content = []any{}
	}
	return object{"node_type": of, "content": content}
}

func section(name, title string, content ...any) object {
	return object{"name": name, "title": node("heading-1", text(title)), "content": content}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	r := start(t)
	link := object{"node_type": "link", "target": "https://example.org/headache", "content": []any{text("headache")}}
	summary := section("summary", "Summary",
		node("paragraph", text("A "), link, text(" <on one side>.")),
		node("heading-1", text("One")), node("heading-2", text("Two")), node("heading-3", text("Three")))
	causes := section("how_its_caused", "Causes", node("unordered-list",
		node("list-item", text("Stress")),
		node("list-item", node("ordered-list", node("list-item", text("Wine"))))))
	disclaimer := section("disclaimer", "Disclaimer", node("paragraph"))
	for query, want := range map[string][]any{
		"":                                    {summary, causes, disclaimer},
		"?sections=":                          {summary, causes, disclaimer},
		"?sections=,":                         {summary, causes, disclaimer},
		"?sections=how_its_caused":            {causes},
		"?sections=disclaimer,summary":        {summary, disclaimer}, // as the article has them
		"?sections=summary,+summary":          {summary},
		"?sections=sources,how_its_prevented": {},
		"?sections=sources,summary&x=1":       {summary},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got := decode[object](t, r.do(t, read("c_1", query)))
			if diff := cmp.Diff(object{"title": node("heading-1", text("Migraine")), "sections": want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Whatever a client accepts, it gets JSON.
func TestArticleIsJSON(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, accept := range []string{"", "application/json", "*/*", "text/html", "application/json;q=0"} {
		got := r.do(t, read("c_1", "").with(map[string]string{"Accept": accept}))
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%q is answered with %d %s", accept, got.status, got.header.Get("Content-Type"))
		}
	}
}

func TestInterviewTokens(t *testing.T) {
	t.Parallel()
	r := start(t)
	issued := func(change func(*identity.Authority)) string {
		other := *r.tokens
		change(&other)
		token, err := other.IssueInterviewToken("service-en", "2026-11-21T00:00:00Z")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	at := func(ago time.Duration) func(*identity.Authority) {
		return func(a *identity.Authority) { a.Now = func() time.Time { return today.Add(-ago) } }
	}
	access, err := r.tokens.Token(identity.TokenRequest{Instance: "test-mgp", ID: "portal", Key: "portal-key", GrantType: "client_credentials"})
	if err != nil {
		t.Fatal(err)
	}
	otherKeys, err := identity.NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	diagnosis := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", detailed("s_1 present initial"))))
	german := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", detailed("s_1 present initial")).with(map[string]string{"Model": "service-de"})))
	for name, test := range map[string]struct {
		token  string
		status int
	}{
		"of a diagnosis":         {*diagnosis.InterviewToken, 200},
		"of a diagnosis another": {*german.InterviewToken, 200}, // model
		"almost a day old":       {issued(at(24*time.Hour - time.Minute)), 200},
		"over a day old":         {issued(at(24*time.Hour + time.Minute)), 403},
		"of another instance":    {issued(func(a *identity.Authority) { a.Instance = "other" }), 403},
		"of another key":         {issued(func(a *identity.Authority) { a.Keys = otherKeys }), 403},
		"an access token":        {access, 403},
		"changed":                {strings.Replace(r.token, ".", ".A", 1), 403},
		"none":                   {"", 400},
		"long":                   {strings.Repeat("x", 5000), 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, read("c_1", "").with(map[string]string{"Interview-Token": test.token}))
			if got.status != test.status {
				t.Errorf("answered %d %s, expected %d", got.status, got.body, test.status)
			}
		})
	}
}
