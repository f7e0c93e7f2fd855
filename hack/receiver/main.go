// SPDX-License-Identifier: Apache-2.0

// Command receiver takes events of an instance and prints them, a line of JSON each. It
// verifies their signatures with the library of Standard Webhooks, as the receiver of a
// tenant would.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/alecthomas/kong"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type command struct {
	Listen string `default:"127.0.0.1:9000" help:"Where to listen."`
	Secret string `help:"The signing secret of the configuration; without it nothing is verified." placeholder:"whsec_…"`
	Name   string `help:"Answer by HTTPS alone, with a certificate for this name that is made now and printed first."`
	Answer int    `default:"204" help:"The status of each answer to an event that is what it says."`
}

// A delivery is what is printed of each that arrives.
type delivery struct {
	WebhookID string          `json:"webhook_id"`
	Token     string          `json:"token"`
	Verified  bool            `json:"verified"`
	Body      json.RawMessage `json:"body"`
}

// Run serves until it is stopped.
func (c *command) Run(ctx context.Context, out io.Writer) error {
	r := &receiver{answer: c.Answer, out: json.NewEncoder(out)}
	if c.Secret != "" {
		verifier, err := standardwebhooks.NewWebhook(c.Secret)
		if err != nil {
			return errors.New("--secret is no signing secret; it begins with whsec_")
		}
		r.verifier = verifier
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r, ReadTimeout: 10 * time.Second}
	if c.Name == "" {
		return server.Serve(listener)
	}
	certificate, err := selfSigned(c.Name)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	if err := r.out.Encode(map[string]string{"authority": string(authority)}); err != nil {
		return err
	}
	return server.Serve(encrypted(listener, certificate))
}

// A receiver prints what it is told.
type receiver struct {
	answer   int
	verifier *standardwebhooks.Webhook // nil to verify nothing
	mu       sync.Mutex
	out      *json.Encoder
}

// mostBody is the most that a delivery holds, in bytes.
const mostBody = 20_000

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, mostBody))
	if err != nil || !json.Valid(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	taken := delivery{
		WebhookID: request.Header.Get("Webhook-Id"), Token: request.Header.Get("X-Webhook-Service-Token"), Body: body,
		Verified: r.verifier != nil && r.verifier.Verify(body, request.Header) == nil,
	}
	if err := r.print(taken); err != nil {
		w.WriteHeader(http.StatusInternalServerError) // and it comes again
		return
	}
	if r.verifier != nil && !taken.Verified {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.WriteHeader(r.answer)
}

func (r *receiver) print(taken delivery) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Encode(taken)
}

func main() {
	var c command
	parsed := kong.Parse(&c, kong.Name("receiver"), kong.Description("Takes events of an instance and prints them."),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
