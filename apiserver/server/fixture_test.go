// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout limits how long a test waits for an expected event.
const testTimeout = 30 * time.Second

// writeFile writes a file.
func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeReleases writes these versions of service-en into a directory.
func writeReleases(t testing.TB, directory string, versions ...string) string {
	t.Helper()
	for _, version := range versions {
		writeRelease(t, directory, "service-en", version, "Colour")
	}
	return directory
}

// writeRelease writes a release in which s_1 has this name, and returns its path.
func writeRelease(t testing.TB, directory, id, version, name string) (path string) {
	t.Helper()
	b := modeltest.New().
		Condition("c_1", 0.1).Condition("c_2", 0.05).
		Symptom("s_1", 0.1, func(o *model.DraftObservation) { o.Name = name }).Symptom("s_2", 0.1).Symptom("s_3", 0.1).
		Link("c_1", "s_1", 0.5).Link("c_1", "s_2", 0.5).Link("c_2", "s_2", 0.8).Link("c_2", "s_3", 0.4)
	b.Draft().Meta.ModelID, b.Draft().Meta.Version = id, version
	path = filepath.Join(directory, model.FileName(id, version))
	if err := model.WriteFile(path, b.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	versionMay      = "2026-05-01T00:00:00Z"
	versionNovember = "2026-11-21T00:00:00Z"
)

// A testCA signs certificates for 127.0.0.1.
type testCA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

func newTestCA(t testing.TB) *testCA {
	t.Helper()
	a := &testCA{key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.certificate)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue returns a certificate with a serial number, and its key, in PEM.
func (c *testCA) issue(t testing.TB, serial int64) (certificate, key string) {
	t.Helper()
	own := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.certificate, own.Public(), c.key)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM(t, "CERTIFICATE", der), privateKeyPEM(t, own)
}

// newSigningKey returns a token signing key in PEM.
func newSigningKey(t testing.TB) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return privateKeyPEM(t, key)
}

func privateKeyPEM(t testing.TB, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM(t, "PRIVATE KEY", der)
}

func encodePEM(t testing.TB, kind string, der []byte) string {
	t.Helper()
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// A runningServer is a server started by a test.
type runningServer struct {
	startInfo
	cancel context.CancelFunc
	done   chan error
	log    *logBuffer
}

// startServer runs a command as the binary does, on free ports.
func startServer(t testing.TB, c Command, edits ...func(*options)) *runningServer {
	t.Helper()
	c.Listen, c.AdminListen = stringOr(c.Listen, "127.0.0.1:0"), stringOr(c.AdminListen, "127.0.0.1:0")
	if c.DataDir == "" {
		c.DataDir = t.TempDir()
	}
	o, err := c.resolveOptions(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	r := &runningServer{done: make(chan error, 1), log: &logBuffer{}}
	started := make(chan startInfo, 1)
	o.log = slog.New(slog.NewJSONHandler(r.log, nil))
	o.onStarted = func(s startInfo) { started <- s }
	for _, edit := range edits {
		edit(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() { r.done <- run(ctx, o) }()
	select {
	case r.startInfo = <-started:
	case err := <-r.done:
		t.Fatalf("server exited on startup: %v", err)
	case <-time.After(testTimeout):
		t.Fatal("server did not start in time")
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("server exited with error: %v\n%s", err, r.log)
		}
	})
	return r
}

// stop stops the server and waits for it. Further calls do nothing.
func (r *runningServer) stop() error {
	r.cancel()
	select {
	case err, ok := <-r.done:
		if ok {
			close(r.done)
		}
		return err
	case <-time.After(testTimeout):
		return context.DeadlineExceeded
	}
}

// A logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// eventually waits until a condition is met.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("timed out waiting until %s", what)
}

// writeTenantFiles writes the files that a server without --dev needs, and returns its command.
func writeTenantFiles(t testing.TB, a *testCA, directory string) Command {
	t.Helper()
	at := func(name string) string { return filepath.Join(directory, name) }
	certificate, key := a.issue(t, 1)
	writeFile(t, at("tls/tls.crt"), certificate)
	writeFile(t, at("tls/tls.key"), key)
	writeFile(t, at("credentials/portal.json"), `{"id": "portal", "key": "portal-key", "scopes": ["knowledge:read", "config:read"]}`)
	writeFile(t, at("signing-keys/first.pem"), newSigningKey(t))
	writeFile(t, at("config/config.yaml"), "cors: {allowedOrigins: ['https://first.example']}")
	if err := errors.Join(encryption.GenerateKeysetFiles(at("keysets")), os.MkdirAll(at("models"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return Command{
		TLSCertFile: at("tls/tls.crt"), TLSKeyFile: at("tls/tls.key"), CredentialsDir: at("credentials"),
		SigningKeysDir: at("signing-keys"), KeysetsDir: at("keysets"), Config: at("config/config.yaml"), InstanceID: "acme",
		Models: writeReleases(t, at("models"), versionNovember), DataDir: at("data"), Drain: new(time.Duration(0)),
	}
}

// newClient returns a client that trusts the CA and uses one protocol.
func newClient(t testing.TB, a *testCA, protocol string) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol}},
		ForceAttemptHTTP2: protocol == "h2",
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: testTimeout}
}

// A testResponse is a received response.
type testResponse struct {
	status   int
	body     string
	header   http.Header
	protocol string
	serial   int64 // serial number of the certificate; zero over plain HTTP
}

// send sends a call as an application. Its body cannot be re-read, so that the client cannot
// retry.
func send(client *http.Client, method, address, body string, header ...string) (testResponse, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, address, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return testResponse{}, err
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return testResponse{}, err
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return testResponse{}, err
	}
	received := testResponse{status: response.StatusCode, body: string(content), header: response.Header, protocol: response.Proto}
	if response.TLS != nil {
		received.serial = response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	return received, nil
}

func mustSend(t testing.TB, client *http.Client, method, address, body string, header ...string) testResponse {
	t.Helper()
	got, err := send(client, method, address, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func appHeaders(application string, more ...string) []string {
	return append([]string{"App-Id", application, "App-Key", application + "-key", "Content-Type", "application/json"}, more...)
}

const headacheBody = `{"sex": "female", "age": {"value": 30}, "evidence": [{"id": "s_1", "choice_id": "present", "source": "initial"}]}`
