// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// The last answer of a survey returns no next question.
func TestAnswerReturnsNextQuestion(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = w.Write([]byte(`{"access_token": "x", "token_type": "Bearer", "expires_in": 3600}`))
			return
		}
		var body struct{ Answer json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent <- string(body.Answer)
		if string(body.Answer) == "null" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write([]byte(`{"id": "notes", "index": 1, "question": {"text": "?"}, "answer_type": "text", "meta": {"required": false}}`))
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Credentials{AppID: "portal", AppKey: "key", InstanceID: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for answer, more := range map[string]bool{`[{"id":"s_21"}]`: true, "null": false} {
		next, err := c.Guidance.AnswerCurrentQuestion(t.Context(), uuid.New(), nil, guidance.NewAnswer{Answer: json.RawMessage(answer)})
		if err != nil || (next != nil) != more || more && next.Index != 1 {
			t.Errorf("after answer %s: got %+v, error %v", answer, next, err)
		}
		if got := <-sent; got != answer {
			t.Errorf("sent %s, want %s", got, answer)
		}
	}
}
