// SPDX-License-Identifier: Apache-2.0

package record

import (
	"net/mail"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
)

// Contact holds a user's email address and phone number. Either may be empty.
type Contact struct {
	Email string `json:"email,omitempty"` // as the user entered it
	Phone string `json:"phone,omitempty"` // E.164
}

// maxEmailBytes is the maximum length of an email address, in bytes (RFC 5321, section
// 4.5.3.1.3, without the angle brackets).
const maxEmailBytes = 254

// ParseEmail parses a bare email address, without a display name.
func ParseEmail(field, text string) (string, error) {
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || len(text) > maxEmailBytes || !strings.Contains(emailDomain(text), ".") {
		return "", &assessment.FieldError{Field: field, Problem: "expected an address such as ada@portal.example"}
	}
	return text, nil
}

func emailDomain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// NormalizeEmail returns the case-folded form in which addresses are compared. RFC
// 5321, section 2.4, allows case-sensitive local parts, but no mail provider in
// practical use has them.
func NormalizeEmail(address string) string { return cases.Fold().String(norm.NFC.String(address)) }

// ParsePhone parses a phone number in international format, with any common
// separators, and returns it in E.164 format. A leading space counts as a plus sign,
// because an unescaped plus in a query string decodes to a space.
func ParsePhone(field, text string) (string, error) {
	if strings.HasPrefix(text, " ") {
		text = "+" + text[1:]
	}
	number, ok := formatE164(text)
	again, same := formatE164(number) // some impossible numbers change when parsed again
	if !ok || !same || again != number || len(number) > len("+")+maxPhoneDigits {
		return "", &assessment.FieldError{Field: field, Problem: "expected a number in international form, such as +49 30 12345678"}
	}
	return number, nil
}

// formatE164 returns a possible number in E.164 format.
func formatE164(text string) (number string, ok bool) {
	if len(text) > maxPhoneBytes {
		return "", false
	}
	parsed, err := phonenumbers.Parse(text, "")
	if err != nil || !phonenumbers.IsPossibleNumber(parsed) || parsed.Extension != nil {
		return "", false
	}
	return phonenumbers.Format(parsed, phonenumbers.E164), true
}

const (
	// maxPhoneDigits is the maximum number of digits in an E.164 number.
	maxPhoneDigits = 15
	// maxPhoneBytes leaves ample room for separators between the digits, in bytes.
	maxPhoneBytes = 64
)
