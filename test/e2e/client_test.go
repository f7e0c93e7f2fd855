// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oapi-codegen/runtime/types"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// An apiClient calls one Instance as a tenant's program would: over HTTPS, with the CA
// and the credentials that the operator created. It has its own transport, because the
// tests select the protocol, depend on a single connection, and reach the Service
// through a relay.
type apiClient struct{ *client.Client }

// newAPIClient relays the Instance's Service to a loopback port and returns a client
// for its default application. The protocol is "h2" or "http/1.1".
func (tn tenant) newAPIClient(protocol string) apiClient {
	tn.t.Helper()
	return tn.newAPIClientAt(tn.relay(), protocol)
}

// relay makes the Instance's Service reachable and returns its address. If the test
// fails, it logs the relay's failed connections, which clients see only as resets.
func (tn tenant) relay() string {
	tn.t.Helper()
	address, err := cluster.Relay(tn.t.Context(), "127.0.0.1:0", tn.key.Namespace, tn.key.Name, 443)
	if err != nil {
		tn.t.Fatalf("relay %s: %v", tn.key, err)
	}
	tn.t.Cleanup(func() {
		if !tn.t.Failed() {
			return
		}
		said, err := cluster.RelayLog(address)
		tn.t.Logf("output of the relay from %s to %s: %s %v", address, tn.key, said, err)
	})
	return address
}

// host returns the name by which clients in the cluster call the Instance.
func (tn tenant) host() string { return fmt.Sprintf("%s.%s.svc", tn.key.Name, tn.key.Namespace) }

// newAPIClientAt returns a client with a single connection to a relayed address.
func (tn tenant) newAPIClientAt(address, protocol string) apiClient {
	tn.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(tn.secret(tn.key.Name+"-serving-tls", "ca.crt"))) {
		tn.t.Fatalf("Secret %s-tls has no CA certificate in ca.crt", tn.key.Name)
	}
	host := tn.host()
	application := tn.key.Name + "-app-default"
	transport := newTransport(address, &tls.Config{RootCAs: authorities, ServerName: host}, protocol)
	tn.t.Cleanup(transport.CloseIdleConnections)
	credentials := client.Credentials{AppID: tn.secret(application, "id"), AppKey: tn.secret(application, "key"), InstanceID: tn.key.Name}
	c, err := client.New("https://"+host, credentials, client.WithHTTPClient(&http.Client{Transport: transport, Timeout: 20 * time.Second}))
	if err != nil {
		tn.t.Fatal(err)
	}
	return apiClient{c}
}

func newTransport(address string, config *tls.Config, protocol string) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP2(protocol == "h2")
	protocols.SetHTTP1(protocol != "h2")
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig: config,
		Protocols:       &protocols,
		MaxConnsPerHost: 1,
	}
}

// disableRetries prevents the transport from rereading a body and therefore from
// retrying, so that failures are visible.
func disableRetries(_ context.Context, request *http.Request) error {
	request.GetBody = nil
	return nil
}

// withKey returns a client with another application key.
func withKey(key string) client.Editor {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("App-Key", key)
		return nil
	}
}

var headacheSearch = &enginev3.SearchParams{Phrase: "headache", AgeValue: 34, MaxResults: new(1)}

// headacheInterview is an adult's first report. The content defines the symptom's ID.
func (c apiClient) headacheInterview(t *testing.T) enginev3.Interview {
	t.Helper()
	found, err := c.Engine.Search(t.Context(), headacheSearch)
	if err != nil || len(found) != 1 {
		t.Fatalf("searching for headache: got %v, error %v", found, err)
	}
	return enginev3.Interview{
		Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34},
		Evidence: []enginev3.Evidence{{ID: found[0].ID, ChoiceID: enginev3.ChoicePresent, Source: new(enginev3.SourceInitial)}},
	}
}

// mustDiagnose requests a diagnosis and fails the test on an error.
func (c apiClient) mustDiagnose(t *testing.T) {
	t.Helper()
	diagnosis, err := c.Engine.Diagnose(t.Context(), c.headacheInterview(t), disableRetries)
	if err != nil {
		t.Fatalf("requesting a diagnosis: %v", err)
	}
	if diagnosis.Question == nil || diagnosis.Question.Text == "" || len(diagnosis.Conditions) == 0 {
		t.Fatalf("diagnosis has no question or no conditions: %+v", diagnosis)
	}
}

// mustRejectKey requests a diagnosis with a wrong key, and fails the test unless the
// key is rejected.
func (c apiClient) mustRejectKey(t *testing.T) {
	t.Helper()
	_, err := c.Engine.Diagnose(t.Context(), c.headacheInterview(t), withKey("not-the-key"))
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusForbidden {
		t.Errorf("got error %v for a wrong key, want 403", err)
	}
}

// userEmail is the email address of the tests' user.
const userEmail = "ada@portal.example"

// mustCreateUser creates a user and returns the ID.
func (c apiClient) mustCreateUser(t *testing.T) (id string) {
	t.Helper()
	user, err := c.Guidance.CreateUser(t.Context(), guidance.NewUser{Email: new(userEmail)})
	if err != nil {
		t.Fatalf("creating a user: %v", err)
	}
	return user.ID.String()
}

// mustFindUser checks that looking up the address finds the user with an ID.
func (c apiClient) mustFindUser(t *testing.T, id string) {
	t.Helper()
	page, err := c.Guidance.ListUsers(t.Context(), &guidance.ListUsersParams{Email: new(userEmail)})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID.String() != id || page.Items[0].Email == nil || *page.Items[0].Email != userEmail {
		t.Errorf("listing user %s: got %+v, error %v", id, page.Items, err)
	}
}

// countDiagnoses returns the number of diagnoses that the Instance has counted, as the
// tenant reads it.
func (c apiClient) countDiagnoses(ctx context.Context) (int, error) {
	today := time.Now().UTC()
	counts, err := c.Guidance.ListUsage(ctx, &guidance.ListUsageParams{
		From: &types.Date{Time: today.AddDate(0, 0, -1)}, To: &types.Date{Time: today.AddDate(0, 0, 1)},
	})
	total := 0
	for _, count := range counts {
		if strings.HasSuffix(count.Endpoint, "/diagnosis") {
			total += int(count.Calls)
		}
	}
	return total, err
}
