// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

func textNode(words string) jsonObject { return jsonObject{"node_type": "text", "value": words} }

func articleNode(of string, content ...any) jsonObject {
	if content == nil {
		content = []any{}
	}
	return jsonObject{"node_type": of, "content": content}
}

func articleSection(name, title string, content ...any) jsonObject {
	return jsonObject{"name": name, "title": articleNode("heading-1", textNode(title)), "content": content}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	link := jsonObject{"node_type": "link", "target": "https://example.org/headache", "content": []any{textNode("headache")}}
	summary := articleSection("summary", "Summary",
		articleNode("paragraph", textNode("A "), link, textNode(" <on one side>.")),
		articleNode("heading-1", textNode("One")), articleNode("heading-2", textNode("Two")), articleNode("heading-3", textNode("Three")))
	causes := articleSection("how_its_caused", "Causes", articleNode("unordered-list",
		articleNode("list-item", textNode("Stress")),
		articleNode("list-item", articleNode("ordered-list", articleNode("list-item", textNode("Wine"))))))
	disclaimer := articleSection("disclaimer", "Disclaimer", articleNode("paragraph"))
	for query, want := range map[string][]any{
		"":                                    {summary, causes, disclaimer},
		"?sections=":                          {summary, causes, disclaimer},
		"?sections=,":                         {summary, causes, disclaimer},
		"?sections=how_its_caused":            {causes},
		"?sections=disclaimer,summary":        {summary, disclaimer}, // in the order of the article
		"?sections=summary,+summary":          {summary},
		"?sections=sources,how_its_prevented": {},
		"?sections=sources,summary&x=1":       {summary},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got := decode[jsonObject](t, r.do(t, getArticle("c_1", query)))
			if diff := cmp.Diff(jsonObject{"title": articleNode("heading-1", textNode("Migraine")), "sections": want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestArticleIsJSON checks that the response is JSON regardless of the Accept header.
func TestArticleIsJSON(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	for _, accept := range []string{"", "application/json", "*/*", "text/html", "application/json;q=0"} {
		got := r.do(t, getArticle("c_1", "").withHeader(map[string]string{"Accept": accept}))
		if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%q : got status %d %s", accept, got.status, got.header.Get("Content-Type"))
		}
	}
}

func TestInterviewTokens(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	issued := func(change func(*identity.TokenIssuer)) string {
		other := *r.tokens
		change(&other)
		token, err := other.IssueInterviewToken("service-en", "2026-11-21T00:00:00Z")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	at := func(ago time.Duration) func(*identity.TokenIssuer) {
		return func(a *identity.TokenIssuer) { a.Now = func() time.Time { return today.Add(-ago) } }
	}
	access, err := r.tokens.IssueToken(identity.TokenRequest{InstanceID: "test-mgp", ClientID: "portal", ClientSecret: "portal-key", GrantType: "client_credentials"})
	if err != nil {
		t.Fatal(err)
	}
	otherKeys, err := identity.NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	diagnosis := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", interviewWithDetails("s_1 present initial"))))
	german := decode[enginev3.Diagnosis](t, r.do(t, post("/v3/diagnosis", interviewWithDetails("s_1 present initial")).withHeader(map[string]string{"Model": "service-de"})))
	for name, test := range map[string]struct {
		token  string
		status int
	}{
		"of a diagnosis":         {*diagnosis.InterviewToken, 200},
		"of a diagnosis another": {*german.InterviewToken, 200}, // from another model
		"almost a day old":       {issued(at(24*time.Hour - time.Minute)), 200},
		"over a day old":         {issued(at(24*time.Hour + time.Minute)), 403},
		"of another instance":    {issued(func(a *identity.TokenIssuer) { a.InstanceID = "other" }), 403},
		"of another key":         {issued(func(a *identity.TokenIssuer) { a.SigningKeys = otherKeys }), 403},
		"an access token":        {access, 403},
		"changed":                {strings.Replace(r.token, ".", ".A", 1), 403},
		"none":                   {"", 400},
		"long":                   {strings.Repeat("x", 5000), 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, getArticle("c_1", "").withHeader(map[string]string{"Interview-Token": test.token}))
			if got.status != test.status {
				t.Errorf("got status %d %s, expected %d", got.status, got.body, test.status)
			}
		})
	}
}
