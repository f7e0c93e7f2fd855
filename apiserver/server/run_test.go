// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

var discardLogger = slog.New(slog.DiscardHandler)

// newPlainClient returns a client without TLS.
func newPlainClient(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: testTimeout}
}

func TestDevelopment(t *testing.T) {
	t.Parallel()
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: t.TempDir()})
	c, address := newPlainClient(t), "http://"+r.tenant
	body := strings.ReplaceAll(headacheBody, "s_1", r.symptom)
	got := mustSend(t, c, "POST", address+"/v3/diagnosis", body, appHeaders("dev")...)
	if got.status != 200 || !strings.Contains(got.body, `"question":{`) {
		t.Errorf("example call of the banner: got status %d: %s", got.status, got.body)
	}
	for _, part := range []string{"curl ", "App-Id: dev", "App-Key: dev-key", r.symptom, address + "/v3/diagnosis", address + "/docs"} {
		if !strings.Contains(devBanner(r.startInfo), part) {
			t.Errorf("banner does not contain %q:\n%s", part, devBanner(r.startInfo))
		}
	}
	if got := mustSend(t, c, "GET", address+"/docs/application.json", ""); got.body != `{"id":"dev","key":"dev-key","instance":"demo"}` {
		t.Errorf("got docs application %s", got.body)
	}
	for origin, want := range map[string]string{"http://localhost:3000": "http://localhost:3000", "https://portal.example": ""} {
		got := mustSend(t, c, "GET", address+"/v3/info", "", appHeaders("dev", "Origin", origin)...)
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != want {
			t.Errorf("origin %s: got Access-Control-Allow-Origin %q, want %q", origin, allowed, want)
		}
	}
	for _, path := range []string{"/.well-known/jwks.json", "/docs", "/openapi/engine-v3.yaml"} {
		if got := mustSend(t, c, "GET", address+path, ""); got.status != 200 {
			t.Errorf("GET %s: got status %d, want 200", path, got.status)
		}
	}
	if got := mustSend(t, c, "GET", address+"/metrics", ""); got.status != 404 {
		t.Errorf("GET /metrics on the tenant address: got status %d, want 404", got.status)
	}
	ready := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", "")
	if want := "[+] releases: service-en@" + versionNovember + "\n[+] storage: up\nready\n"; ready.status != 200 || ready.body != want {
		t.Errorf("GET /readyz: got status %d, body %q, want %q", ready.status, ready.body, want)
	}
}

// TestPprofRequiresFlag checks that profiles are served only with the flag, and never on the
// tenant address.
func TestPprofRequiresFlag(t *testing.T) {
	t.Parallel()
	models := writeReleases(t, t.TempDir(), versionNovember)
	for name, test := range map[string]struct {
		pprof bool
		want  int
	}{"disabled": {false, 404}, "enabled": {true, 200}} {
		r := startServer(t, Command{Dev: true, Models: models, DataDir: t.TempDir(), Pprof: test.pprof})
		if got := mustSend(t, newPlainClient(t), "GET", "http://"+r.admin+"/debug/pprof/heap", ""); got.status != test.want {
			t.Errorf("pprof %s: got status %d on the admin address, want %d", name, got.status, test.want)
		}
		if got := mustSend(t, newPlainClient(t), "GET", "http://"+r.tenant+"/debug/pprof/heap", ""); got.status != 404 {
			t.Errorf("pprof %s: got status %d on the tenant address, want 404", name, got.status)
		}
	}
}

func TestExampleSymptom(t *testing.T) {
	t.Parallel()
	library, err := model.OpenStore(writeReleases(t, t.TempDir(), versionNovember), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	lease, err := library.Acquire("")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Done()
	if got := pickExampleSymptom(lease.Release()); got != "s_2" {
		t.Errorf("got %s, want s_2, the symptom of two conditions", got)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	a := newTestCA(t)
	r := startServer(t, writeTenantFiles(t, a, t.TempDir()))
	address := "https://" + r.tenant
	for protocol, want := range map[string]string{"h2": "HTTP/2.0", "http/1.1": "HTTP/1.1"} {
		got := mustSend(t, newClient(t, a, protocol), "POST", address+"/v3/diagnosis", headacheBody, appHeaders("portal")...)
		if got.status != 200 || got.protocol != want || got.serial != 1 {
			t.Errorf("%s: got status %d over %s with certificate %d", protocol, got.status, got.protocol, got.serial)
		}
	}
	for version, accepted := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", r.tenant, &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS10, MaxVersion: version})
		if (err == nil) != accepted {
			t.Errorf("%s: got error %v, want accepted: %v", tls.VersionName(version), err, accepted)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	if got := mustSend(t, newPlainClient(t), "GET", "http://"+r.tenant+"/v3/info", "", appHeaders("portal")...); got.status != 400 {
		t.Errorf("plain HTTP: got status %d, want 400", got.status)
	}
}

// TestReload checks that all reloadable settings change without a restart.
func TestReload(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	r := startServer(t, command)
	address := "https://" + r.tenant
	info := func(header ...string) testResponse {
		c := newClient(t, a, "h2") // a new connection, which sees the certificate
		defer c.CloseIdleConnections()
		return mustSend(t, c, "GET", address+"/v3/info", "", header...)
	}
	if got := info(appHeaders("portal", "Origin", "https://first.example")...); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Fatalf("got status %d, header %v", got.status, got.header)
	}

	certificate, key := a.issue(t, 2)
	writeFile(t, command.TLSCertFile, certificate)
	writeFile(t, command.TLSKeyFile, key)
	writeFile(t, filepath.Join(directory, "credentials/kiosk.json"), `{"id": "kiosk", "key": "kiosk-key", "scopes": ["knowledge:read"]}`)
	writeFile(t, command.Config, "cors: {allowedOrigins: ['https://second.example']}")
	eventually(t, "the new certificate is served", func() bool { return info(appHeaders("portal")...).serial == 2 })
	eventually(t, "the new application is accepted", func() bool { return info(appHeaders("kiosk")...).status == 200 })
	eventually(t, "only the new origin is allowed", func() bool {
		return info(appHeaders("portal", "Origin", "https://second.example")...).header.Get("Access-Control-Allow-Origin") != "" &&
			info(appHeaders("portal", "Origin", "https://first.example")...).header.Get("Access-Control-Allow-Origin") == ""
	})

	if err := os.Remove(filepath.Join(directory, "credentials/portal.json")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the removed application is rejected", func() bool { return info(appHeaders("portal")...).status == 403 })

	for _, file := range []string{command.TLSKeyFile, filepath.Join(directory, "credentials/kiosk.json"), command.Config} {
		writeFile(t, file, "invalid: [")
	}
	eventually(t, "all three files are rejected", func() bool {
		metrics := mustSend(t, newPlainClient(t), "GET", "http://"+r.admin+"/metrics", "").body
		return strings.Contains(metrics, `anamnesis_config_reloads_total{outcome="refused",source="tls"} 1`) &&
			strings.Contains(metrics, `anamnesis_config_reloads_total{outcome="refused",source="credentials"} 1`) &&
			strings.Contains(metrics, `anamnesis_config_reloads_total{outcome="refused",source="config"} 1`)
	})
	got := info(appHeaders("kiosk", "Origin", "https://second.example")...)
	if got.status != 200 || got.serial != 2 || got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("with invalid files: got status %d, certificate %d, header %v", got.status, got.serial, got.header)
	}
	if log := r.log.String(); !strings.Contains(log, "keeping the previous version") || strings.Contains(log, "kiosk-key") {
		t.Errorf("unexpected log: %s", log)
	}
}

func TestNewReleasesAreServed(t *testing.T) {
	t.Parallel()
	directory := writeReleases(t, t.TempDir(), versionMay)
	r := startServer(t, Command{Dev: true, Models: directory, DataDir: t.TempDir()})
	c := newPlainClient(t)
	version := func() string {
		return mustSend(t, c, "GET", "http://"+r.tenant+"/v3/info", "", appHeaders("dev")...).body
	}
	if !strings.Contains(version(), versionMay) {
		t.Fatalf("got version %s, want %s", version(), versionMay)
	}
	writeReleases(t, directory, versionNovember)
	eventually(t, "the newer release is served", func() bool { return strings.Contains(version(), versionNovember) })
	if ready := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", ""); !strings.Contains(ready.body, versionNovember) {
		t.Errorf("GET /readyz: got body %s", ready.body)
	}
}

// TestDevRejectsNonLoopbackHosts checks that in development, requests to host names
// other than loopback are rejected.
func TestDevRejectsNonLoopbackHosts(t *testing.T) {
	t.Parallel()
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: t.TempDir()})
	for host, want := range map[string]int{r.tenant: 200, "localhost:8080": 200, "rebound.example": 421} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.tenant+"/v3/info", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		request.Header.Set("App-Id", "dev")
		request.Header.Set("App-Key", "dev-key")
		response, err := newPlainClient(t).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("host %s: got status %d, want %d", host, response.StatusCode, want)
		}
	}
}

// TestUsageIsFlushedToStorage checks that usage counts reach storage within seconds, and
// the last ones on shutdown.
func TestUsageIsFlushedToStorage(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	command := Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: directory}
	r, c := startServer(t, command), newPlainClient(t)
	call := func() {
		if got := mustSend(t, c, "POST", "http://"+r.tenant+"/v3/triage", headacheBody, appHeaders("dev")...); got.status != 200 {
			t.Fatalf("got status %d: %s", got.status, got.body)
		}
	}
	metric := func(line string) bool {
		return strings.Contains(mustSend(t, c, "GET", "http://"+r.admin+"/metrics", "").body, line)
	}
	call()
	eventually(t, "the count is flushed", func() bool {
		return metric(`anamnesis_usage_flushes_total{outcome="stored"} 1`) && metric("anamnesis_usage_buffered_calls 0")
	})
	call()
	mustSend(t, c, "GET", "http://"+r.tenant+"/v3/info", "", appHeaders("dev", "Dev-Mode", "true")...)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(directory, "anamnesis.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	today := civil.DateOf(time.Now())
	counts, err := store.ListUsage(t.Context(), today.AddDays(-1), today)
	if err != nil {
		t.Fatal(err)
	}
	var calls int64
	for _, count := range counts {
		if count.Application != "dev" || count.Endpoint != "POST /v3/triage" {
			t.Errorf("unexpected count %+v", count)
		}
		calls += count.Calls
	}
	if calls != 2 {
		t.Errorf("%d calls are stored, want 2", calls)
	}
}

// TestStorageUnavailableAtStart checks that an unavailable database delays readiness,
// and nothing else.
func TestStorageUnavailableAtStart(t *testing.T) {
	t.Parallel()
	unusedAddress := freeAddress(t)
	r := startServer(t, Command{
		Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), Database: "postgres://me:my-secret@" + unusedAddress + "/db?sslmode=disable",
	})
	c := newPlainClient(t)
	ready := mustSend(t, c, "GET", "http://"+r.admin+"/readyz", "")
	if ready.status != 503 || !strings.Contains(ready.body, "[-] storage: ") || !strings.Contains(ready.body, "[+] releases: ") {
		t.Errorf("GET /readyz: got status %d, body %s", ready.status, ready.body)
	}
	if alive := mustSend(t, c, "GET", "http://"+r.admin+"/livez", ""); alive.status != 200 {
		t.Errorf("GET /livez: got status %d, want 200", alive.status)
	}
	if got := mustSend(t, c, "POST", "http://"+r.tenant+"/v3/diagnosis", headacheBody, appHeaders("dev")...); got.status != 200 {
		t.Errorf("got status %d from /v3 without storage, want 200", got.status)
	}
	if metrics := mustSend(t, c, "GET", "http://"+r.admin+"/metrics", "").body; !strings.Contains(metrics, "anamnesis_storage_up 0") {
		t.Error("metrics do not report that storage is down")
	}
	eventually(t, "the log reports that storage is down", func() bool { return strings.Contains(r.log.String(), "storage became unavailable") })
	for _, text := range []string{ready.body, r.log.String()} {
		if strings.Contains(text, "my-secret") {
			t.Errorf("output contains the password: %s", text)
		}
	}
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), "will retry") {
		t.Errorf("stop returned %v, want an error about the lost count", err)
	}
}

// TestStartFailsOnInvalidConfiguration checks that an invalid configuration fails at
// startup with an error that names the remedy.
func TestStartFailsOnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	a := newTestCA(t)
	for name, test := range map[string]struct {
		spoil func(t *testing.T, c *Command)
		want  string
	}{
		"no releases":      {func(t *testing.T, c *Command) { c.Models = t.TempDir() }, "--models: release files not found in"},
		"no such model":    {func(_ *testing.T, c *Command) { c.Model = []string{"service-de"} }, "available releases are service-en@" + versionNovember},
		"no such version":  {func(_ *testing.T, c *Command) { c.Model = []string{"service-en@" + versionMay} }, "available releases are service-en@" + versionNovember},
		"no certificate":   {func(_ *testing.T, c *Command) { c.TLSCertFile += "x" }, "--tls-cert-file, --tls-key-file: "},
		"rubbish for one":  {func(t *testing.T, c *Command) { writeFile(t, c.TLSCertFile, "rubbish") }, "parsing PEM certificate"},
		"no credentials":   {func(_ *testing.T, c *Command) { c.CredentialsDir += "x" }, "--credentials-dir: "},
		"bad credentials":  {func(t *testing.T, c *Command) { writeFile(t, c.CredentialsDir+"/x.json", "{") }, "x.json: invalid JSON"},
		"no signing keys":  {func(t *testing.T, c *Command) { c.SigningKeysDir = t.TempDir() }, "--signing-keys-dir: "},
		"no keysets":       {func(t *testing.T, c *Command) { c.KeysetsDir = t.TempDir() }, "--keysets-dir: loading keysets: "},
		"no configuration": {func(_ *testing.T, c *Command) { c.Config += "x" }, "--config: "},
		"bad origin":       {func(t *testing.T, c *Command) { writeFile(t, c.Config, "cors: {allowedOrigins: [x]}") }, `invalid origin "x": expected`},
		"bad database":     {func(_ *testing.T, c *Command) { c.Database = "mysql://x" }, "sqlite:<file path> or postgres://"},
		"bad server":       {func(_ *testing.T, c *Command) { c.Database = "postgres://%%%" }, "postgres://user:password@host:port/database"},
		"database nowhere": {func(_ *testing.T, c *Command) { c.Database = "sqlite:" + c.DataDir + "/none/x.db" }, "no such file or directory"},
		"address in use":   {func(_ *testing.T, c *Command) { c.AdminListen = c.Listen }, "--admin-listen: listen tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := writeTenantFiles(t, a, t.TempDir())
			c.Listen, c.AdminListen = "127.0.0.1:0", "127.0.0.1:0"
			if name == "address in use" {
				c.Listen = freeAddress(t)
			}
			test.spoil(t, &c)
			o, err := c.resolveOptions(os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			o.log = discardLogger
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			if err := run(ctx, o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want it to contain %q", err, test.want)
			}
			if ctx.Err() != nil {
				t.Error("server started, want an error")
			}
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// TestDocsApplicationOnlyInDevelopment checks that only the application created by --dev
// is shown on the reference page.
func TestDocsApplicationOnlyInDevelopment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command Command
		want    docs.Application
	}{
		"development":                         {Command{Dev: true, InstanceID: "demo"}, docs.Application{ID: "dev", Key: "dev-key", Instance: "demo"}},
		"development with other applications": {Command{Dev: true, InstanceID: "demo", CredentialsDir: "/credentials"}, docs.Application{}},
		"production":                          {Command{InstanceID: "acme", CredentialsDir: "/credentials"}, docs.Application{}},
	} {
		p := &process{options: options{Command: test.command}}
		if got := p.docsApplication(); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
