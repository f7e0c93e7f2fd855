// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// What a child process is: a server over a database and a directory of keysets, or a
// receiver with a ledger.
const (
	serverVariable   = "ANAMNESIS_TEST_SERVER"
	receiverVariable = "ANAMNESIS_TEST_RECEIVER"
)

// child makes a process that TestKilledUnderLoad started what it is to be, until it is
// killed. In every other process it does nothing.
func child() {
	var err error
	switch told := strings.Fields(os.Getenv(serverVariable)); {
	case len(told) == 2:
		err = serveUntilKilled(told[0], told[1])
	case os.Getenv(receiverVariable) != "":
		err = receiveUntilKilled(os.Getenv(receiverVariable))
	default:
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveUntilKilled finishes surveys, with a line for each that is committed, and tells
// of them.
func serveUntilKilled(url, keysets string) error {
	store, err := open.Open(context.Background(), url)
	if err != nil {
		return err
	}
	keys, _, err := sealing.Open(keysets)
	if err != nil {
		return err
	}
	go dispatcherOf(store, keys).Run(context.Background())
	for {
		survey := uuid.NewString()
		err := store.Transact(context.Background(), func(tx storage.Tx) error {
			return webhooks.Announce(context.Background(), tx, events.NewSurveyFinished(uuid.NewString(), survey))
		})
		if err != nil {
			return err
		}
		fmt.Println(survey)
	}
}

func dispatcherOf(store storage.Store, keys *sealing.Keys) *dispatch.Dispatcher {
	register := &webhooks.Register{Storage: store, Keys: keys, Now: time.Now, Changed: func() {}}
	settings := deliver.Settings{Reach: deliver.Reach{Loopback: true, AnyPort: true}}
	return dispatch.New(dispatch.Options{
		Storage: store, Open: register.Open, Notify: register.Notify, Now: time.Now,
		Sender:    &deliver.Sender{Settings: func() deliver.Settings { return settings }, Now: time.Now},
		Retention: func() time.Duration { return time.Hour }, Observer: &observed{}, Log: slog.New(slog.DiscardHandler),
	})
}

// receiveUntilKilled writes each event that it takes into a ledger, before it says so.
func receiveUntilKilled(ledger string) error {
	file, err := os.OpenFile(ledger, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Content struct {
				SurveyID string `json:"survey_id"`
			}
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err == nil {
			_, err = fmt.Fprintln(file, body.Content.SurveyID, r.Header.Get("Webhook-Id"))
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
}

// kills is how often a server is killed: of the twenty times that CI has for both
// storages, half.
func kills() int {
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// However often a server is killed, every survey whose end was committed is told of, by
// one id however often, and nothing that did not happen.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	eachStorageURL(t, func(t *testing.T, url string) {
		ledger, keysets := filepath.Join(t.TempDir(), "ledger"), filepath.Join(t.TempDir(), "keysets")
		store, keys := subscribed(t, url, keysets, startReceiver(t, ledger))
		committed := map[string]bool{}
		for range kills() {
			finishUntilKilled(t, url, keysets, committed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			dispatcherOf(store, keys).Run(ctx)
		}()
		untilAfter(t, 3*time.Minute, "all is told", func() bool {
			waiting, err := store.Waiting(t.Context())
			return err == nil && len(waiting) == 0
		})
		cancel()
		<-ended
		judge(t, ledger, committed)
	})
}

// subscribed is a store with a receiver that is told of all.
func subscribed(t *testing.T, url, keysets, address string) (storage.Store, *sealing.Keys) {
	t.Helper()
	if err := sealing.Make(keysets); err != nil {
		t.Fatal(err)
	}
	keys, _, err := sealing.Open(keysets)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, url)
	r.register.Keys = keys
	r.subscribe(&receiver{url: "http://" + address})
	return r.store, keys
}

// startReceiver starts a receiver that is killed after the test, and returns where it is.
func startReceiver(t *testing.T, ledger string) (address string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), receiverVariable+"="+ledger)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	address, err = bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// finishUntilKilled starts a server, kills it at any moment after some surveys, and notes
// those that it said were committed.
func finishUntilKilled(t *testing.T, url, keysets string, committed map[string]bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), serverVariable+"="+url+" "+keysets)
	var failure strings.Builder
	command.Stderr = &failure
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	count := 0
	for lines := bufio.NewScanner(output); lines.Scan(); count++ {
		committed[lines.Text()] = true
		if count == 5 {
			time.AfterFunc(rand.N(150*time.Millisecond), func() { _ = command.Process.Kill() }) // it may have failed before
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if count < 5 {
		t.Fatalf("the server finished %d surveys: %s", count, failure.String())
	}
}

// judge holds what the receiver wrote down against what happened. Of each server that
// was killed one more survey may have been committed than it said.
func judge(t *testing.T, ledger string, committed map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{} // by survey
	again := 0
	for line := range strings.Lines(string(text)) {
		survey, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if before, told := ids[survey]; told {
			again++
			if before != id {
				t.Errorf("of %s was told by the ids %s and %s", survey, before, id)
			}
		}
		ids[survey] = id
	}
	unsaid := 0
	for survey := range ids {
		if !committed[survey] {
			unsaid++
		}
	}
	for survey := range committed {
		if ids[survey] == "" {
			t.Errorf("nobody was told of %s", survey)
		}
	}
	if unsaid > kills() {
		t.Errorf("of %d surveys was told that nobody said were committed, want %d at most", unsaid, kills())
	}
	t.Logf("%d kills, %d surveys, %d told of again", kills(), len(committed), again)
}
