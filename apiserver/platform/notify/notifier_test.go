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
	r := &harness{outcomes: make(chan string, 100)}
	r.Notifier = New(Options{
		SettingsDir: directory, DevMode: development, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		OnOutcome: func(c Channel, o Outcome) { r.outcomes <- string(c) + " " + string(o) },
	})
	for _, source := range r.Sources() {
		if err := source.Load(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return r
}

func (r *harness) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-r.outcomes:
		if got != want {
			t.Errorf("got outcome %q, want %q: %s", got, want, &r.log.logText)
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

// Settings files configure the mail server and the gateway, and changes take effect.
func TestNotifierFollowsSettings(t *testing.T) {
	t.Parallel()
	server := startSMTPServer(t, configv1alpha1.STARTTLS, withAuth)
	directory := filepath.Join(t.TempDir(), "missing")
	r := startHarness(t, directory, false)
	if r.CanSend(Email) || r.CanSend(TextMessage) || r.Notify(t.Context(), newEmail()) {
		t.Error("a message is taken without settings")
	}
	r.expect(t, "email dropped")

	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	mailer := server.newMailer(configv1alpha1.STARTTLS)
	_, port, _ := strings.Cut(mailer.address(), ":")
	writeFiles(t, directory, map[string]string{
		"smtp.host": mailer.Host, "smtp.port": port, "smtp.from": "a@acme.example", "smtp.username": username, "smtp.password": password,
		"sms.url": "rubbish",
	})
	sources := r.Sources()
	if err := sources[0].Load(); err != nil || sources[0].Name != "smtp" {
		t.Fatal(err)
	}
	if err := sources[1].Load(); err == nil || !strings.HasPrefix(err.Error(), "loading sms: sms.url: expected") {
		t.Errorf("loading rubbish: %v", err)
	}
	if r.CanSend(TextMessage) || !r.CanSend(Email) {
		t.Error("what is wrong of one channel is taken of the other")
	}
	r.mailer.Load().RootCAs = server.rootCAs
	if !r.Notify(t.Context(), newEmail()) {
		t.Error("not taken")
	}
	r.expect(t, "email sent")
	if len(server.received) != 1 {
		t.Errorf("received %v", server.received)
	}
	if r.Notify(t.Context(), newEmail(func(m *Message) { m.Recipient = "rubbish" })) ||
		r.Notify(t.Context(), newEmail(func(m *Message) { m.Channel = "pigeon" })) {
		t.Error("a message without a recipient is accepted")
	}
	r.expect(t, "email dropped")
	if len(r.outcomes) != 0 {
		t.Errorf("told %s", <-r.outcomes)
	}
	expectRedacted(t, r.log.logText.String(), newEmail())
}

func TestNotifierInDevMode(t *testing.T) {
	t.Parallel()
	r := startHarness(t, "", true)
	if !r.CanSend(Email) || !r.CanSend(TextMessage) || r.CanSend("pigeon") {
		t.Error("not every channel is reached")
	}
	for _, message := range []Message{newEmail(), newTextMessage()} {
		if !r.Notify(t.Context(), message) {
			t.Error("not taken")
		}
		r.expect(t, string(message.Channel)+" sent")
		r.log.mu.Lock()
		for _, needed := range []string{message.Recipient, message.Code, "level=INFO"} {
			if !strings.Contains(r.log.logText.String(), needed) {
				t.Errorf("the log does not say %s: %s", needed, &r.log.logText)
			}
		}
		r.log.mu.Unlock()
	}
}

// The watched files are the settings files.
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
		t.Errorf("without a directory there are %v", sources)
	}
}
