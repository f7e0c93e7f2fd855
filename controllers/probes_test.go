// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

type fakeNamespaceHealth []string

func (h fakeNamespaceHealth) Problems() []string { return h }

func TestReadiness(t *testing.T) {
	t.Parallel()
	yes, no := make(chan struct{}), make(chan struct{})
	close(yes)
	for name, test := range map[string]struct {
		probes probes
		want   string
	}{
		"just started":               {probes{no, no, fakeNamespaceHealth{}}, "503 [-] caches: not synced\n[+] leadership: standby\nnot ready\n"},
		"stands by":                  {probes{yes, no, fakeNamespaceHealth{}}, "200 [+] caches: synced\n[+] leadership: standby\nready\n"},
		"leads":                      {probes{yes, yes, fakeNamespaceHealth{}}, "200 [+] caches: synced\n[+] leadership: leader\nready\n"},
		"leads except one namespace": {probes{yes, yes, fakeNamespaceHealth{"namespace a: gone"}}, "200 [+] caches: synced\n[+] leadership: leader\n[!] namespace a: gone\nready\n"},
	} {
		handler := test.probes.handler()
		if got := get(handler, "/readyz"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if got := get(handler, "/livez"); got != "200 ok\n" {
			t.Errorf("%s: got /livez response %q", name, got)
		}
	}
}

func get(handler http.Handler, path string) string {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return fmt.Sprintf("%d %s", recorder.Code, recorder.Body)
}
