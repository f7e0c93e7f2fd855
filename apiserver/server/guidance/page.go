// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
)

const (
	defaultLimit = 10 // how many items a page has unless the caller says so
	maxLimit     = 50
)

// A page is a part of a list that a caller asks for.
type page struct {
	number, limit int64
	address       url.URL    // of the list, as the caller wrote it
	filters       url.Values // that the links keep
}

// filtered is the page with the filters that were given.
func (p page) filtered(filters map[string]*string) page {
	p.filters = url.Values{}
	for name, value := range filters {
		if given := orEmpty(value); given != "" {
			p.filters.Set(name, given)
		}
	}
	return p
}

type addressKey struct{}

// noteAddress keeps the address that the caller called, for links.
func (h handlers) noteAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := url.URL{Scheme: h.Scheme, Host: r.Host, Path: calledPath(r)}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, address)))
	})
}

// readPage reads the parameters of a list, and says what is wrong with them.
func readPage(ctx context.Context, limit, cursor *string) (p page, wrong []contract.FieldError) {
	p.address, _ = ctx.Value(addressKey{}).(url.URL)
	whole := func(field string, text *string, otherwise, lowest, highest int64, expected string) int64 {
		if orEmpty(text) == "" {
			return otherwise
		}
		number, err := strconv.ParseInt(*text, 10, 64)
		if err != nil || number < lowest || number > highest {
			wrong = append(wrong, contract.FieldError{Field: field, Message: "expected " + expected})
		}
		return number
	}
	p.limit = whole("limit", limit, defaultLimit, 1, maxLimit, fmt.Sprintf("a whole number from 1 to %d", maxLimit))
	p.number = whole("cursor", cursor, 0, 0, maxCursor, "the number of a page, which the links of a page have")
	return p, wrong
}

// maxCursor keeps the place of a page's first item in an int64.
const maxCursor = 1 << 50

// skipped is how many items come before the page.
func (p page) skipped() int64 { return p.number * p.limit }

// last is the number of the last page of a list with so many items. The first
// page is always there.
func (p page) last(total int64) int64 { return max(0, (total-1)/p.limit) }

// beyond says what is wrong with a page behind the last one.
func (p page) beyond(total int64) (wrong []contract.FieldError) {
	if p.number > p.last(total) {
		wrong = append(wrong, contract.FieldError{Field: "cursor", Message: fmt.Sprintf("expected 0 to %d, the number of the last page", p.last(total))})
	}
	return wrong
}

// links are those that every page of a list has.
type links struct {
	self, first, last string
	prev, next        *string
}

// of makes the links of a page of a list with so many items.
func (p page) of(total int64) (links, error) {
	if wrong := p.beyond(total); len(wrong) > 0 {
		return links{}, refusal(wrong)
	}
	return links{
		self: p.link(p.number), first: p.link(0), last: p.link(p.last(total)),
		prev: p.linkWithin(p.number-1, total), next: p.linkWithin(p.number+1, total),
	}, nil
}

// register is the part of a list as the register of people has it.
func (p page) register() people.Page { return people.Page{Skipped: p.skipped(), AtMost: p.limit} }

// link is the address of another page of the list.
func (p page) link(number int64) string {
	address, query := p.address, url.Values{}
	maps.Copy(query, p.filters)
	query.Set("limit", strconv.FormatInt(p.limit, 10))
	query.Set("cursor", strconv.FormatInt(number, 10))
	address.RawQuery = query.Encode()
	return address.String()
}

// linkWithin is the address of another page, nil when the list has none of that
// number.
func (p page) linkWithin(number, total int64) *string {
	if number < 0 || number > p.last(total) {
		return nil
	}
	link := p.link(number)
	return &link
}
