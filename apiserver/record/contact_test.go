// SPDX-License-Identifier: Apache-2.0

package record

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseEmail(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"ada@portal.example", "a+b@x.example", "Ada.Lovelace@Portal.Example", "ä@ü.example", "o'neil@portal.example"} {
		if got, err := ParseEmail("email", good); err != nil || got != good {
			t.Errorf("%q: got %q, %v", good, got, err)
		}
	}
	for _, bad := range []string{
		"", "ada", "ada@", "@portal.example", "ada@portal", "Ada <ada@portal.example>", "<ada@portal.example>", " ada@portal.example",
		"ada@portal.example ", "ada@portal.example,eve@portal.example", "ada@portal.example\r\nBcc: eve@portal.example", "a b@portal.example",
		strings.Repeat("a", 250) + "@x.example", "ada@@portal.example",
	} {
		if got, err := ParseEmail("email", bad); err == nil || !strings.HasPrefix(err.Error(), "email: expected an address") {
			t.Errorf("%q: got %q, %v", bad, got, err)
		}
	}
}

func TestNormalizeEmail(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{{"Ada@Portal.Example", "ada@portal.example"}, {"STRASSE@x.example", "straße@x.example"}, {"a\u0308@x.example", "Ä@x.example"}} {
		if NormalizeEmail(same[0]) != NormalizeEmail(same[1]) {
			t.Errorf("%q and %q are not equal", same[0], same[1])
		}
	}
}

func TestParsePhone(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"+493012345678": "+493012345678", "+49 30 12345678": "+493012345678", "+49 (0) 30 / 123456-78": "+493012345678",
		" 493012345678": "+493012345678", "+1 (555) 010-0199": "+15550100199", "+44 20 7946 0958": "+442079460958",
	} {
		if got, err := ParsePhone("phone", written); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", written, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "+", "112", "030 12345678", "4930", "+49", "+49 3", "hello", "+999999999999999999", "+49301234567890123456",
		"+49 30 12345678 ext. 5", strings.Repeat("+", 100), "\x00", "ada@portal.example",
	} {
		if got, err := ParsePhone("phone", bad); err == nil || !strings.HasPrefix(err.Error(), "phone: expected a number") {
			t.Errorf("%q: got %q, %v", bad, got, err)
		}
	}
}

func FuzzParsePhone(f *testing.F) {
	for _, seed := range []string{"+493012345678", " 49 30 1234", "+1-800-FLOWERS", "+٤٩٣٠١٢٣٤٥٦٧٨"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number, err := ParsePhone("phone", text)
		if err != nil {
			return
		}
		if again, err := ParsePhone("phone", number); err != nil || again != number || !strings.HasPrefix(number, "+") || len(number) > 16 {
			t.Errorf("%q was parsed as %q, then as %q, error %v", text, number, again, err)
		}
	})
}

func FuzzParseEmail(f *testing.F) {
	for _, seed := range []string{"ada@portal.example", "\"a b\"@x.example", "a@[127.0.0.1]", "a@b.c\r\nBcc: x@y.z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := ParseEmail("email", text)
		if err == nil && (strings.ContainsAny(address, "\r\n\x00<>") || !utf8.ValidString(NormalizeEmail(address))) {
			t.Errorf("%q was accepted as an address", text)
		}
	})
}
