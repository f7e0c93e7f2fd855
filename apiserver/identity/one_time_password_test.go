// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func keyedHash(key int64, sum string) KeyedHash { return KeyedHash{KeyID: key, Sum: []byte(sum)} }

func TestOneTimePasswordIsSingleUse(t *testing.T) {
	t.Parallel()
	good, wrong := keyedHash(7, "good"), keyedHash(7, "wrong")
	for name, test := range map[string]struct {
		tries []KeyedHash
		after time.Duration
		want  []bool
	}{
		"at once":                 {[]KeyedHash{good}, 0, []bool{true}},
		"twice":                   {[]KeyedHash{good, good}, 0, []bool{true, false}},
		"in time":                 {[]KeyedHash{good}, OneTimePasswordLifetime - 1, []bool{true}},
		"too late":                {[]KeyedHash{good}, OneTimePasswordLifetime, []bool{false}},
		"at the fifth try":        {[]KeyedHash{wrong, wrong, wrong, wrong, good}, 0, []bool{false, false, false, false, true}},
		"after five wrong tries":  {[]KeyedHash{wrong, wrong, wrong, wrong, wrong, good}, 0, []bool{false, false, false, false, false, false}},
		"the sum of another key":  {[]KeyedHash{keyedHash(8, "good"), good}, 0, []bool{false, true}},
		"with nothing to compare": {[]KeyedHash{{}}, 0, []bool{false}},
	} {
		var passwords OneTimePasswordState
		if passwords.Verify([]KeyedHash{{}}, now) {
			t.Fatal("verified a password that was never issued")
		}
		passwords.Issue(good, now)
		var got []bool
		for _, attempt := range test.tries {
			got = append(got, passwords.Verify([]KeyedHash{keyedHash(9, "x"), attempt}, now.Add(test.after)))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOneTimePasswordHourlyLimit checks that a recipient never exceeds the hourly limit
// and gets a new password after waiting, even if several replicas share the state.
func TestOneTimePasswordHourlyLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var passwords OneTimePasswordState
		at, issued := now, []time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "asked") {
			at = at.Add(time.Duration(rapid.IntRange(0, 30*60).Draw(t, "seconds")) * time.Second)
			text, err := json.Marshal(passwords)
			if err != nil {
				t.Fatal(err)
			}
			passwords = OneTimePasswordState{}
			if err := json.Unmarshal(text, &passwords); err != nil {
				t.Fatal(err)
			}
			inHour := 0
			for _, before := range issued {
				if at.Sub(before) < time.Hour {
					inHour++
				}
			}
			got := passwords.Issue(keyedHash(1, "x"), at)
			if got != (inHour < maxPasswordsPerHour) {
				t.Fatalf("Issue() = %v after %d passwords in the last hour", got, inHour)
			}
			if got {
				issued = append(issued, at)
			}
			if len(passwords.SentAt) > maxPasswordsPerHour {
				t.Fatalf("got %d send times in the state, exceeding the limit", len(passwords.SentAt))
			}
		}
	})
}

func TestNewOneTimePassword(t *testing.T) {
	t.Parallel()
	digits, seen := regexp.MustCompile(`^[0-9]{6}$`), map[string]bool{}
	for range 100 {
		code, err := NewOneTimePassword()
		if err != nil || !digits.MatchString(code) {
			t.Fatalf("got password %q, %v", code, err)
		}
		seen[code] = true
		magic, err := base64.RawURLEncoding.DecodeString(NewMagicCode())
		if err != nil || len(magic) != 32 || seen[string(magic)] {
			t.Fatalf("got magic code %x, %v", magic, err)
		}
		seen[string(magic)] = true
	}
	if len(seen) < 195 {
		t.Errorf("got %d distinct codes of 200", len(seen))
	}
}

func TestHourlyBudget(t *testing.T) {
	t.Parallel()
	var budget HourlyBudget
	hour := now.Truncate(time.Hour)
	for i, step := range []struct {
		at   time.Time
		want bool
	}{{hour, true}, {hour.Add(time.Minute), true}, {hour.Add(59 * time.Minute), false}, {hour.Add(time.Hour), true}, {hour.Add(5 * time.Hour), true}} {
		if got := budget.Take(2, step.at); got != step.want {
			t.Errorf("step %d: got %v", i, got)
		}
	}
}
