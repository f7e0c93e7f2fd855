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

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// Roles of a child process: a server with a database and keysets, or a receiver with a
// ledger.
const (
	serverEnv   = "ANAMNESIS_TEST_SERVER"
	receiverEnv = "ANAMNESIS_TEST_RECEIVER"
)

// runChildProcess runs the role of a child started by TestCrashLosesNoEvents until it is
// killed. In every other process it does nothing.
func runChildProcess() {
	var err error
	switch args := strings.Fields(os.Getenv(serverEnv)); {
	case len(args) == 2:
		err = serveUntilKilled(args[0], args[1])
	case os.Getenv(receiverEnv) != "":
		err = receiveUntilKilled(os.Getenv(receiverEnv))
	default:
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveUntilKilled completes surveys, prints a line after each commit, and delivers
// their events.
func serveUntilKilled(url, keysets string) error {
	store, err := open.Open(context.Background(), url)
	if err != nil {
		return err
	}
	keys, _, err := encryption.LoadKeyring(keysets)
	if err != nil {
		return err
	}
	go newDispatcher(store, keys).Run(context.Background())
	for {
		survey := uuid.NewString()
		err := store.Transact(context.Background(), func(tx storage.Tx) error {
			return webhook.Publish(context.Background(), tx, event.NewSurveyFinished(uuid.NewString(), survey))
		})
		if err != nil {
			return err
		}
		fmt.Println(survey)
	}
}

func newDispatcher(store storage.Store, keys *encryption.Keyring) *dispatch.Dispatcher {
	service := &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keys, Now: time.Now, OnChange: func() {}}
	settings := delivery.Settings{AddressPolicy: delivery.AddressPolicy{AllowLoopback: true, AllowAnyPort: true}}
	return dispatch.New(dispatch.Options{
		Storage: storage.Scope[dispatch.Reader, dispatch.Tx]{Store: store}, Queue: store, DecryptSecrets: service.DecryptSecrets, PublishNotification: service.PublishNotification, Now: time.Now,
		Sender:    &delivery.Sender{Settings: func() delivery.Settings { return settings }, Now: time.Now},
		Retention: func() time.Duration { return time.Hour }, Observer: &fakeObserver{}, Log: slog.New(slog.DiscardHandler),
	})
}

// receiveUntilKilled writes each event to a ledger before acknowledging it.
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

// killCount returns how often to kill a server: half of the 20 kills that CI runs for
// both storages together.
func killCount() int {
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		return 100
	}
	return 10
}

// TestCrashLosesNoEvents checks that, however often a server is killed, each committed
// survey completion is delivered under a single event id, possibly repeatedly, and
// nothing else is delivered.
func TestCrashLosesNoEvents(t *testing.T) {
	t.Parallel()
	forEachDatabase(t, func(t *testing.T, url string) {
		ledger, keysets := filepath.Join(t.TempDir(), "ledger"), filepath.Join(t.TempDir(), "keysets")
		store, keys := newSubscribedStore(t, url, keysets, startReceiverProcess(t, ledger))
		committed := map[string]bool{}
		for range killCount() {
			runServerUntilKilled(t, url, keysets, committed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			newDispatcher(store, keys).Run(ctx)
		}()
		eventuallyWithin(t, 3*time.Minute, "every event is delivered", func() bool {
			queues, err := store.QueueStats(t.Context())
			return err == nil && len(queues) == 0
		})
		cancel()
		<-stopped
		checkLedger(t, ledger, committed)
	})
}

// newSubscribedStore returns a store with a receiver subscribed to all events.
func newSubscribedStore(t *testing.T, url, keysets, address string) (storage.Store, *encryption.Keyring) {
	t.Helper()
	if err := encryption.GenerateKeysetFiles(keysets); err != nil {
		t.Fatal(err)
	}
	keys, _, err := encryption.LoadKeyring(keysets)
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, url)
	h.service.Keyring = keys
	h.subscribe(&receiver{url: "http://" + address})
	return h.store, keys
}

// startReceiverProcess starts a receiver that is killed after the test, and returns its
// address.
func startReceiverProcess(t *testing.T, ledger string) (address string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), receiverEnv+"="+ledger)
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

// runServerUntilKilled starts a server, kills it at a random moment after some surveys,
// and adds the surveys it reported as committed.
func runServerUntilKilled(t *testing.T, url, keysets string, committed map[string]bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), serverEnv+"="+url+" "+keysets)
	var stderr strings.Builder
	command.Stderr = &stderr
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
			time.AfterFunc(rand.N(150*time.Millisecond), func() { _ = command.Process.Kill() }) // may have exited earlier
		}
	}
	_ = command.Wait() // always an error: the child was killed
	if count < 5 {
		t.Fatalf("server completed %d surveys, want at least 5: %s", count, stderr.String())
	}
}

// checkLedger compares the receiver's ledger with the committed surveys. Each killed
// server may have committed one more survey than it reported.
func checkLedger(t *testing.T, ledger string, committed map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{} // keyed by survey
	redelivered := 0
	for line := range strings.Lines(string(text)) {
		survey, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if before, found := ids[survey]; found {
			redelivered++
			if before != id {
				t.Errorf("event of survey %s was delivered with different ids, %s and %s", survey, before, id)
			}
		}
		ids[survey] = id
	}
	unreported := 0
	for survey := range ids {
		if !committed[survey] {
			unreported++
		}
	}
	for survey := range committed {
		if ids[survey] == "" {
			t.Errorf("event of survey %s was not delivered", survey)
		}
	}
	if unreported > killCount() {
		t.Errorf("events of %d surveys without a reported commit were delivered, want at most %d", unreported, killCount())
	}
	t.Logf("%d kills, %d surveys, %d redeliveries", killCount(), len(committed), redelivered)
}
