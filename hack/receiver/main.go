// SPDX-License-Identifier: Apache-2.0

// Command receiver receives webhook events of an Instance and prints each as a line of
// JSON. It verifies their signatures with the Standard Webhooks library, as a tenant's
// receiver would.
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
	Listen string `default:"127.0.0.1:9000" help:"Address to listen on."`
	Secret string `help:"Signing secret of the webhook configuration. If unset, events are not verified." placeholder:"whsec_…"`
	Name   string `help:"Serve HTTPS only, with a self-signed certificate for this name that is printed at startup."`
	Answer int    `default:"204" help:"Status code of responses to accepted events."`
}

// A delivery is the output for one received event.
type delivery struct {
	WebhookID string          `json:"webhook_id"`
	Token     string          `json:"token"`
	Verified  bool            `json:"verified"`
	Body      json.RawMessage `json:"body"`
}

// Run serves until the process is stopped.
func (c *command) Run(ctx context.Context, out io.Writer) error {
	r := &receiver{status: c.Answer, out: json.NewEncoder(out)}
	if c.Secret != "" {
		verifier, err := standardwebhooks.NewWebhook(c.Secret)
		if err != nil {
			return errors.New("invalid --secret: expected a signing secret that starts with whsec_")
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
	certificate, err := newSelfSignedCertificate(c.Name)
	if err != nil {
		return fmt.Errorf("creating a certificate: %w", err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	if err := r.out.Encode(map[string]string{"authority": string(authority)}); err != nil {
		return err
	}
	return server.Serve(newTLSListener(listener, certificate))
}

// A receiver prints the events that it receives.
type receiver struct {
	status   int
	verifier *standardwebhooks.Webhook // if nil, signatures are not verified
	mu       sync.Mutex
	out      *json.Encoder
}

// maxBodyBytes is the maximum size of a delivery, in bytes.
const maxBodyBytes = 20_000

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if err != nil || !json.Valid(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	received := delivery{
		WebhookID: request.Header.Get("Webhook-Id"), Token: request.Header.Get("X-Webhook-Service-Token"), Body: body,
		Verified: r.verifier != nil && r.verifier.Verify(body, request.Header) == nil,
	}
	if err := r.writeDelivery(received); err != nil {
		w.WriteHeader(http.StatusInternalServerError) // makes the sender retry
		return
	}
	if r.verifier != nil && !received.Verified {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.WriteHeader(r.status)
}

func (r *receiver) writeDelivery(received delivery) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Encode(received)
}

func main() {
	var c command
	parsed := kong.Parse(&c, kong.Name("receiver"), kong.Description("Receive the webhook events of an Instance and print them."),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
