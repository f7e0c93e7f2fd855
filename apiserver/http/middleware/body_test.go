// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplaceLoneSurrogates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ body, want string }{
		{`"no escape"`, `"no escape"`},
		{`"\u00e4 \n \\ \" \ud83d\ude00"`, `"\u00e4 \n \\ \" \ud83d\ude00"`},
		{`"\ud83d"`, `"\ufffd"`},
		{`"\uDE00"`, `"\ufffd"`},
		{`"\ud83d\ud83d\ude00\ude00"`, `"\ufffd\ud83d\ude00\ufffd"`},
		{`"\ude00\ud83d"`, `"\ufffd\ufffd"`},
		{`"\ud83d\u0041\ude00"`, `"\ufffd\u0041\ufffd"`},
		{`"\ud83d\n\ude00"`, `"\ufffd\n\ufffd"`},
		{`"\\ud83d"`, `"\\ud83d"`}, // a backslash followed by letters
		{`"\\\ud83d\\ude00"`, `"\\\ufffd\\ude00"`},
		{`{"\ud800": ["\udfff"]}`, `{"\ufffd": ["\ufffd"]}`},
		{`"\ud83`, `"\ud83`},
		{`"\ud8+1"`, `"\ud8+1"`},
		{`\`, `\`},
		{``, ``},
	} {
		body := []byte(test.body)
		replaced := replaceLoneSurrogates(body)
		if diff := cmp.Diff(test.want, string(body)); diff != "" || replaced != (test.body != test.want) {
			t.Errorf("%s: replaced %v (-want +got)\n%s", test.body, replaced, diff)
		}
	}
}

// FuzzEnsureValidJSON checks that JSON accepted by the standard library, which tolerates lone
// surrogates, is accepted if it is UTF-8 without duplicate keys, and keeps its meaning.
func FuzzEnsureValidJSON(f *testing.F) {
	for _, seed := range []string{
		`"\ud83d"`, `{"\ud800": "\udfff\ud83d\ude00", "a": [1, "\\ud800"]}`, `"\ud83d\uD83D\uDE00"`, `[`, "\"\xff\"", `"\u12"`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want any
		wanted := json.Unmarshal(body, &want) == nil
		if !ensureValidJSON(body) {
			return
		}
		if !wanted {
			t.Fatalf("%q was accepted as JSON", body)
		}
		var got any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	})
}
