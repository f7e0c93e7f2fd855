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
)

// A rig is a notifier that runs, with what it tells.
type rig struct {
	*Notifier
	log  tally
	told chan string
}

func start(t *testing.T, directory string, development bool) *rig {
	t.Helper()
	r := &rig{told: make(chan string, 100)}
	r.Notifier = New(Options{
		Directory: directory, Development: development, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Tell: func(c Channel, o Outcome) { r.told <- string(c) + " " + string(o) },
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

func (r *rig) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-r.told:
		if got != want {
			t.Errorf("told %q, want %q: %s", got, want, &r.log.text)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("nothing is told, want %q", want)
	}
}

func write(t *testing.T, directory string, contents map[string]string) {
	t.Helper()
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// From the files to the server of mail and to the gateway, and back when files
// change.
func TestNotifier(t *testing.T) {
	t.Parallel()
	server := serveMail(t, STARTTLS, withAuth)
	directory := filepath.Join(t.TempDir(), "missing")
	r := start(t, directory, false)
	if r.Reaches(Email) || r.Reaches(TextMessage) || r.Notify(t.Context(), mailMessage()) {
		t.Error("a message is taken without settings")
	}
	r.expect(t, "email dropped")

	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	mailer := server.mailer(STARTTLS)
	_, port, _ := strings.Cut(mailer.address(), ":")
	write(t, directory, map[string]string{
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
	if r.Reaches(TextMessage) || !r.Reaches(Email) {
		t.Error("what is wrong of one channel is taken of the other")
	}
	r.mailer.Load().Roots = server.pool
	if !r.Notify(t.Context(), mailMessage()) {
		t.Error("not taken")
	}
	r.expect(t, "email sent")
	if len(server.received) != 1 {
		t.Errorf("received %v", server.received)
	}
	if r.Notify(t.Context(), mailMessage(func(m *Message) { m.Recipient = "rubbish" })) ||
		r.Notify(t.Context(), mailMessage(func(m *Message) { m.Channel = "pigeon" })) {
		t.Error("a message to nobody is taken")
	}
	r.expect(t, "email dropped")
	if len(r.told) != 0 {
		t.Errorf("told %s", <-r.told)
	}
	expectSilent(t, r.log.text.String(), mailMessage())
}

func TestNotifierInDevelopment(t *testing.T) {
	t.Parallel()
	r := start(t, "", true)
	if !r.Reaches(Email) || !r.Reaches(TextMessage) || r.Reaches("pigeon") {
		t.Error("not every channel is reached")
	}
	for _, message := range []Message{mailMessage(), textMessage()} {
		if !r.Notify(t.Context(), message) {
			t.Error("not taken")
		}
		r.expect(t, string(message.Channel)+" sent")
		r.log.mu.Lock()
		for _, needed := range []string{message.Recipient, message.Code, "level=INFO"} {
			if !strings.Contains(r.log.text.String(), needed) {
				t.Errorf("the log does not say %s: %s", needed, &r.log.text)
			}
		}
		r.log.mu.Unlock()
	}
}

// The files that are looked at are those of the settings.
func TestSources(t *testing.T) {
	t.Parallel()
	var names []string
	for _, source := range New(Options{Directory: "/d", Tell: func(Channel, Outcome) {}}).Sources() {
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
	if sources := New(Options{Tell: func(Channel, Outcome) {}}).Sources(); sources != nil {
		t.Errorf("without a directory there are %v", sources)
	}
}
