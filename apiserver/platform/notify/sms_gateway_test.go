// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// A gatewayRequest is a request received by a gateway.
type gatewayRequest struct {
	Method, Path, Query, Body, ContentType, Authorization string
}

// startGateway starts a TLS server that answers every call with a status and reports
// the calls.
func startGateway(t testing.TB, status int, header ...string) (*SMSGateway, func() []gatewayRequest) {
	t.Helper()
	calls := make(chan gatewayRequest, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- gatewayRequest{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("Content-Type"), r.Header.Get("Authorization")}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "thank you for "+string(body))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	gateway := &SMSGateway{URL: server.URL + "/send", ContentType: configv1alpha1.ContentTypeJSON, Body: `{"to": "{to}", "text": "{text}"}`, RootCAs: pool}
	return gateway, func() (all []gatewayRequest) {
		for {
			select {
			case one := <-calls:
				all = append(all, one)
			default:
				return all
			}
		}
	}
}

func TestGatewaySend(t *testing.T) {
	t.Parallel()
	const text = "493021 is your code to sign in to a&b. Use it within 10 minutes. Do not share it with anyone."
	message := newTextMessage(func(m *Message) { m.TenantName = "a&b" })
	escaped := url.QueryEscape(text)
	for name, test := range map[string]struct {
		edit func(*SMSGateway)
		want gatewayRequest
	}{
		"JSON": {func(*SMSGateway) {}, gatewayRequest{
			Path: "/send", ContentType: configv1alpha1.ContentTypeJSON,
			Body: `{"to": "+4930123456789", "text": "` + strings.ReplaceAll(text, "&", `\u0026`) + `"}`,
		}},
		"a form": {func(g *SMSGateway) {
			g.ContentType, g.Body = configv1alpha1.ContentTypeForm, "from=acme&to={to}&text={text}"
			g.Headers = http.Header{"Authorization": {"Bearer x"}}
		}, gatewayRequest{
			Path: "/send", ContentType: configv1alpha1.ContentTypeForm, Authorization: "Bearer x", Body: "from=acme&to=%2B4930123456789&text=" + escaped,
		}},
		"in the address": {func(g *SMSGateway) { g.URL, g.Body = g.URL+"/{to}/{text}?to={to}&text={text}", "{}" }, gatewayRequest{
			Path: "/send/+4930123456789/" + url.PathEscape(text), Query: "to=%2B4930123456789&text=" + escaped,
			ContentType: configv1alpha1.ContentTypeJSON, Body: "{}",
		}},
	} {
		gateway, calls := startGateway(t, http.StatusAccepted)
		test.edit(gateway)
		if err := gateway.Send(t.Context(), message); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		test.want.Method = http.MethodPost
		if diff := cmp.Diff([]gatewayRequest{test.want}, calls()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestGatewaySendErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status    int
		edit      func(*SMSGateway)
		problem   string
		temporary bool
		calls     int
	}{
		"refused":        {403, nil, "responded with status 403", false, 1},
		"a bad number":   {400, nil, "responded with status 400", false, 1},
		"too many":       {429, nil, "responded with status 429", true, 1},
		"a fault":        {500, nil, "responded with status 500", true, 1},
		"away":           {503, nil, "responded with status 503", true, 1},
		"a redirect":     {302, nil, "redirects are not followed", false, 1},
		"another's name": {200, func(g *SMSGateway) { g.RootCAs = x509.NewCertPool() }, "unknown authority", false, 0},
		"no address":     {200, func(g *SMSGateway) { g.URL = "https://%zz/{to}" }, "invalid sms.url after expanding", false, 0},
		"plain HTTP":     {200, func(g *SMSGateway) { g.URL = strings.Replace(g.URL, "https", "http", 1) }, "responded with status 400", false, 0},
		"no listener":    {200, func(g *SMSGateway) { g.URL = "https://127.0.0.1:1/{to}/{text}" }, "connection refused", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gateway, calls := startGateway(t, test.status, "Location", "/elsewhere")
			if test.edit != nil {
				test.edit(gateway)
			}
			expectSendError(t, gateway.Send(t.Context(), newTextMessage()), test.problem, test.temporary)
			if got := calls(); len(got) != test.calls {
				t.Errorf("gateway received %v", got)
			}
		})
	}
}

func TestGatewayWithoutTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	gateway := &SMSGateway{URL: strings.Replace(server.URL, "http", "https", 1), ContentType: configv1alpha1.ContentTypeJSON}
	expectSendError(t, gateway.Send(t.Context(), newTextMessage()), "does not use TLS", false)
}

// TestGatewayIgnoresProxyEnvironment checks that proxy settings in the environment are
// ignored.
func TestGatewayIgnoresProxyEnvironment(t *testing.T) {
	t.Parallel()
	if (&SMSGateway{}).newTransport().Proxy != nil {
		t.Error("transport uses a proxy")
	}
}

func TestGatewaySendTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	gateway := &SMSGateway{URL: server.URL, ContentType: configv1alpha1.ContentTypeJSON, Body: "{}"}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	expectSendError(t, gateway.Send(ctx, newTextMessage()), "timed out after", true)
}

// FuzzGatewayPlaceholders checks that any number and text arrive unchanged, and the rest
// of the request is unaffected.
func FuzzGatewayPlaceholders(f *testing.F) {
	f.Add("+4930123456789", "493021 is your code")
	f.Add(`"}`, `","admin":true,"x":"`)
	f.Add("{text}", "{to}")
	f.Add("&to=1", "a=b&c=d%26#?/\\\u2028\x00")
	f.Add("\xff", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, to, text string) {
		expectJSON(t, to, text)
		form := SMSGateway{ContentType: configv1alpha1.ContentTypeForm, Body: "a=1&to={to}&text={text}&twice={to}{text}"}
		got, err := url.ParseQuery(form.expandBody(to, text))
		if err != nil {
			t.Fatal(err)
		}
		want := url.Values{"a": {"1"}, "to": {to}, "text": {text}, "twice": {to + text}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("form (-want +got)\n%s", diff)
		}
		expectURL(t, to, text)
	})
}

func expectJSON(t *testing.T, to, text string) {
	t.Helper()
	gateway := SMSGateway{ContentType: configv1alpha1.ContentTypeJSON, Body: `{"to": ["{to}"], "text": "a {text} b", "twice": "{to}{text}", "n": 1.50}`}
	var got struct {
		To    []string    `json:"to"`
		Text  string      `json:"text"`
		Twice string      `json:"twice"`
		N     json.Number `json:"n"`
		Admin *bool       `json:"admin"`
	}
	decoder := json.NewDecoder(strings.NewReader(gateway.expandBody(to, text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%s: %v", gateway.expandBody(to, text), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("body is not a single JSON value: %s", gateway.expandBody(to, text))
	}
	to, text = replaceInvalidUTF8(to), replaceInvalidUTF8(text)
	if len(got.To) != 1 || got.To[0] != to || got.Text != "a "+text+" b" || got.Twice != to+text || got.N != "1.50" || got.Admin != nil {
		t.Errorf("%q and %q are received as %+v", to, text, got)
	}
}

// replaceInvalidUTF8 replaces every invalid UTF-8 byte with U+FFFD.
func replaceInvalidUTF8(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

func expectURL(t *testing.T, to, text string) {
	t.Helper()
	gateway := SMSGateway{URL: "https://sms.example/a/{to}/{text}/b?to={to}&text={text}"}
	address, err := url.Parse(gateway.expandURL(to, text))
	if err != nil {
		t.Fatal(err)
	}
	if address.Host != "sms.example" || address.Path != "/a/"+to+"/"+text+"/b" || address.Fragment != "" || address.User != nil {
		t.Errorf("%q and %q expand to URL %s", to, text, address)
	}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil || query.Get("to") != to || query.Get("text") != text || len(query) != 2 {
		t.Errorf("%q and %q expand to query %v, error %v", to, text, query, err)
	}
}
