// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// A harness is a running notifier with its recorded outcomes.
type harness struct {
	*Notifier
	log      outcomeRecorder
	outcomes chan string
}

func startHarness(t *testing.T, directory string, development bool) *harness {
	t.Helper()
	h := &harness{outcomes: make(chan string, 100)}
	h.Notifier = New(Options{
		SettingsDir: directory, DevMode: development, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
		OnOutcome: func(c Channel, o Outcome) { h.outcomes <- string(c) + " " + string(o) },
	})
	for _, source := range h.Sources() {
		if err := source.Load(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return h
}

func (h *harness) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-h.outcomes:
		if got != want {
			t.Errorf("got outcome %q, want %q: %s", got, want, &h.log.logText)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("got no outcome, want %q", want)
	}
}

func writeFiles(t *testing.T, directory string, contents map[string]string) {
	t.Helper()
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotifierFollowsSettings checks that settings files configure the mail server and
// the gateway, and changes take effect.
func TestNotifierFollowsSettings(t *testing.T) {
	t.Parallel()
	server := startSMTPServer(t, configv1alpha1.STARTTLS, withAuth)
	directory := filepath.Join(t.TempDir(), "missing")
	h := startHarness(t, directory, false)
	if h.CanSend(Email) || h.CanSend(TextMessage) || h.Notify(t.Context(), newEmail()) {
		t.Error("message was accepted without settings")
	}
	h.expect(t, "email dropped")

	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	mailer := server.newMailer(configv1alpha1.STARTTLS)
	_, port, _ := strings.Cut(mailer.address(), ":")
	writeFiles(t, directory, map[string]string{
		"smtp.host": mailer.Host, "smtp.port": port, "smtp.from": "a@acme.example", "smtp.username": username, "smtp.password": password,
		"sms.url": "invalid",
	})
	sources := h.Sources()
	if err := sources[0].Load(); err != nil || sources[0].Name != "smtp" {
		t.Fatal(err)
	}
	if err := sources[1].Load(); err == nil || !strings.HasPrefix(err.Error(), "loading sms: sms.url: expected") {
		t.Errorf("loading invalid settings: got error %v", err)
	}
	if h.CanSend(TextMessage) || !h.CanSend(Email) {
		t.Error("invalid SMS settings were applied, or disabled email")
	}
	h.mailer.Load().RootCAs = server.rootCAs
	if !h.Notify(t.Context(), newEmail()) {
		t.Error("not taken")
	}
	h.expect(t, "email sent")
	if len(server.received) != 1 {
		t.Errorf("server received %v, want one message", server.received)
	}
	if h.Notify(t.Context(), newEmail(func(m *Message) { m.Recipient = "invalid" })) ||
		h.Notify(t.Context(), newEmail(func(m *Message) { m.Channel = "pigeon" })) {
		t.Error("invalid message was accepted")
	}
	h.expect(t, "email dropped")
	if len(h.outcomes) != 0 {
		t.Errorf("unexpected outcome %s", <-h.outcomes)
	}
	expectRedacted(t, h.log.logText.String(), newEmail())
}

func TestNotifierInDevMode(t *testing.T) {
	t.Parallel()
	h := startHarness(t, "", true)
	if !h.CanSend(Email) || !h.CanSend(TextMessage) || h.CanSend("pigeon") {
		t.Error("CanSend is wrong for some channels")
	}
	for _, message := range []Message{newEmail(), newTextMessage()} {
		if !h.Notify(t.Context(), message) {
			t.Error("not taken")
		}
		h.expect(t, string(message.Channel)+" sent")
		h.log.mu.Lock()
		for _, want := range []string{message.Recipient, message.Code, "level=INFO"} {
			if !strings.Contains(h.log.logText.String(), want) {
				t.Errorf("log does not contain %s: %s", want, &h.log.logText)
			}
		}
		h.log.mu.Unlock()
	}
}

// TestSourcesWatchSettingsFiles checks that the watched files are the settings files.
func TestSourcesWatchSettingsFiles(t *testing.T) {
	t.Parallel()
	var names []string
	for _, source := range New(Options{SettingsDir: "/d", OnOutcome: func(Channel, Outcome) {}}).Sources() {
		for _, path := range source.Paths {
			names = append(names, source.Name+" "+path)
		}
	}
	want := []string{
		"smtp /d/smtp.host", "smtp /d/smtp.port", "smtp /d/smtp.username", "smtp /d/smtp.password", "smtp /d/smtp.from",
		"smtp /d/smtp.tls", "smtp /d/smtp.ca.crt",
		"sms /d/sms.url", "sms /d/sms.headers", "sms /d/sms.body", "sms /d/sms.contentType", "sms /d/sms.ca.crt",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if sources := New(Options{OnOutcome: func(Channel, Outcome) {}}).Sources(); sources != nil {
		t.Errorf("got sources %v without a directory, want none", sources)
	}
}
