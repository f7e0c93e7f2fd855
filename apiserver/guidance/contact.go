// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/mail"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
)

// Contact is where a user can be reached. Either may be empty.
type Contact struct {
	Email string `json:"email,omitempty"` // as the user writes it
	Phone string `json:"phone,omitempty"` // E.164
}

// maxEmail is the most that an address may have, in bytes (RFC 5321, section
// 4.5.3.1.3, without the angle brackets).
const maxEmail = 254

// ReadEmail reads an e-mail address without a name beside it.
func ReadEmail(field, text string) (string, error) {
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text || len(text) > maxEmail || !strings.Contains(domainOf(text), ".") {
		return "", &assessment.FieldError{Field: field, Problem: "expected an address such as ada@portal.example"}
	}
	return text, nil
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// FoldEmail is the form in which addresses are compared: without regard to case.
// The standard lets a host tell names apart by case (RFC 5321, section 2.4); none
// does that people would use.
func FoldEmail(address string) string { return cases.Fold().String(norm.NFC.String(address)) }

// ReadPhone reads a number in international form, with whatever people put
// between its digits, and gives it as E.164 has it. A plus that came as a space,
// as in a query that nobody escaped, is one.
func ReadPhone(field, text string) (string, error) {
	if strings.HasPrefix(text, " ") {
		text = "+" + text[1:]
	}
	number, ok := formatPhone(text)
	again, same := formatPhone(number) // some that nobody can have are another number when read again
	if !ok || !same || again != number || len(number) > len("+")+mostDigits {
		return "", &assessment.FieldError{Field: field, Problem: "expected a number in international form, such as +49 30 12345678"}
	}
	return number, nil
}

// formatPhone writes a number that may exist as E.164 has it.
func formatPhone(text string) (number string, ok bool) {
	if len(text) > maxPhone {
		return "", false
	}
	read, err := phonenumbers.Parse(text, "")
	if err != nil || !phonenumbers.IsPossibleNumber(read) || read.Extension != nil {
		return "", false
	}
	return phonenumbers.Format(read, phonenumbers.E164), true
}

const (
	// mostDigits is the length of the longest number that E.164 has.
	mostDigits = 15
	// maxPhone is far more than these digits with spaces between them, in bytes.
	maxPhone = 64
)
