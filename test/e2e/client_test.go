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

// An apiClient calls one Instance as a tenant's program would: over HTTPS, with
// the authority and the credentials that the operator made. Its transport is
// its own: the tests choose the protocol, count on one connection, and reach
// the Service through a relay.
type apiClient struct{ *client.Client }

// dial relays the Instance's Service to a loopback port and returns a client
// for its default application. The protocol is "h2" or "http/1.1".
func (n tenant) dial(protocol string) apiClient {
	n.t.Helper()
	return n.dialAt(n.relay(), protocol)
}

// relay makes the Instance's Service reachable and returns its address. Of a test
// that failed it tells which connections led nowhere: their clients see them
// reset, whatever the reason.
func (n tenant) relay() string {
	n.t.Helper()
	address, err := cluster.Relay(n.t.Context(), "127.0.0.1:0", n.key.Namespace, n.key.Name, 443)
	if err != nil {
		n.t.Fatalf("relay %s: %v", n.key, err)
	}
	n.t.Cleanup(func() {
		if !n.t.Failed() {
			return
		}
		said, err := cluster.RelayLog(address)
		n.t.Logf("the relay from %s to %s says: %s %v", address, n.key, said, err)
	})
	return address
}

// host is the name by which clients in the cluster call the Instance.
func (n tenant) host() string { return fmt.Sprintf("%s.%s.svc", n.key.Name, n.key.Namespace) }

// dialAt is a client with one connection of its own to a relayed address.
func (n tenant) dialAt(address, protocol string) apiClient {
	n.t.Helper()
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM([]byte(n.secret(n.key.Name+"-serving-tls", "ca.crt"))) {
		n.t.Fatalf("secret %s-tls holds no authority in ca.crt", n.key.Name)
	}
	host := n.host()
	application := n.key.Name + "-app-default"
	transport := newTransport(address, &tls.Config{RootCAs: authorities, ServerName: host}, protocol)
	n.t.Cleanup(transport.CloseIdleConnections)
	credentials := client.Credentials{AppID: n.secret(application, "id"), AppKey: n.secret(application, "key"), InstanceID: n.key.Name}
	c, err := client.New("https://"+host, credentials, client.WithHTTPClient(&http.Client{Transport: transport, Timeout: 20 * time.Second}))
	if err != nil {
		n.t.Fatal(err)
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

// sentOnce takes away the means to read a body again, so that the transport
// never sends the request twice: one that fails is seen to fail.
func sentOnce(_ context.Context, request *http.Request) error {
	request.GetBody = nil
	return nil
}

// withKey calls with another key than the application's.
func withKey(key string) client.Editor {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("App-Key", key)
		return nil
	}
}

var searchHeadache = &enginev3.SearchParams{Phrase: "headache", AgeValue: 34, MaxResults: new(1)}

// headache is an adult's first report. Its id is the business of the content.
func (c apiClient) headache(t *testing.T) enginev3.Interview {
	t.Helper()
	found, err := c.Engine.Search(t.Context(), searchHeadache)
	if err != nil || len(found) != 1 {
		t.Fatalf("looking for a headache: found %v, %v", found, err)
	}
	return enginev3.Interview{
		Sex: enginev3.SexFemale, Age: enginev3.Age{Value: 34},
		Evidence: []enginev3.Evidence{{ID: found[0].ID, ChoiceID: enginev3.ChoicePresent, Source: new(enginev3.SourceInitial)}},
	}
}

// mustDiagnose asks for a diagnosis and fails the test unless it is answered.
func (c apiClient) mustDiagnose(t *testing.T) {
	t.Helper()
	diagnosis, err := c.Engine.Diagnose(t.Context(), c.headache(t), sentOnce)
	if err != nil {
		t.Fatalf("diagnosis: %v", err)
	}
	if diagnosis.Question == nil || diagnosis.Question.Text == "" || len(diagnosis.Conditions) == 0 {
		t.Fatalf("diagnosis asks nothing or ranks nothing: %+v", diagnosis)
	}
}

// mustRefuse asks for a diagnosis with a wrong key, and fails the test unless
// that is the reason why there is none.
func (c apiClient) mustRefuse(t *testing.T) {
	t.Helper()
	_, err := c.Engine.Diagnose(t.Context(), c.headache(t), withKey("not-the-key"))
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusForbidden {
		t.Errorf("a wrong key got %v, want 403", err)
	}
}

// userAddress is that of the user whom tests make.
const userAddress = "ada@portal.example"

// mustCreateUser makes a user and returns the id.
func (c apiClient) mustCreateUser(t *testing.T) (id string) {
	t.Helper()
	user, err := c.Guidance.CreateUser(t.Context(), guidance.NewUser{Email: new(userAddress)})
	if err != nil {
		t.Fatalf("making a user: %v", err)
	}
	return user.ID.String()
}

// mustFindUser wants the address to lead to the user with an id.
func (c apiClient) mustFindUser(t *testing.T, id string) {
	t.Helper()
	page, err := c.Guidance.ListUsers(t.Context(), &guidance.ListUsersParams{Email: new(userAddress)})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID.String() != id || page.Items[0].Email == nil || *page.Items[0].Email != userAddress {
		t.Errorf("looking for the user %s: found %+v, %v", id, page.Items, err)
	}
}

// diagnosesCounted is how many diagnoses the Instance has counted, read as the
// tenant would read it.
func (c apiClient) diagnosesCounted(ctx context.Context) (int, error) {
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
