// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

type troubles []string

func (t troubles) Troubles() []string { return t }

func TestReadiness(t *testing.T) {
	t.Parallel()
	yes, no := make(chan struct{}), make(chan struct{})
	close(yes)
	for name, test := range map[string]struct {
		probes probes
		want   string
	}{
		"just started":                {probes{no, no, troubles{}}, "503 [-] caches: not filled yet\n[+] leadership: stands by\nnot ready\n"},
		"stands by":                   {probes{yes, no, troubles{}}, "200 [+] caches: filled\n[+] leadership: stands by\nready\n"},
		"leads":                       {probes{yes, yes, troubles{}}, "200 [+] caches: filled\n[+] leadership: leads\nready\n"},
		"leads but for one namespace": {probes{yes, yes, troubles{"namespace a: gone"}}, "200 [+] caches: filled\n[+] leadership: leads\n[!] namespace a: gone\nready\n"},
	} {
		handler := test.probes.handler()
		if got := ask(handler, "/readyz"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if got := ask(handler, "/livez"); got != "200 alive\n" {
			t.Errorf("%s: /livez answered %q", name, got)
		}
	}
}

func ask(handler http.Handler, path string) string {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return fmt.Sprintf("%d %s", recorder.Code, recorder.Body)
}
