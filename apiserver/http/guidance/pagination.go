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
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

const (
	defaultLimit = 10 // page size if the caller does not set limit
	maxLimit     = 50
)

// A pagination is the page that a caller requests from a list.
type pagination struct {
	number, limit int64
	listURL       url.URL    // URL of the list as requested
	filters       url.Values // preserved in links
}

// withFilters returns the pagination with the given filters; unset ones are omitted.
func (p pagination) withFilters(filters map[string]*string) pagination {
	p.filters = url.Values{}
	for name, value := range filters {
		if text := stringOrEmpty(value); text != "" {
			p.filters.Set(name, text)
		}
	}
	return p
}

type requestURLKey struct{}

// recordRequestURL stores the requested URL in the context, for links.
func (h handlers) recordRequestURL(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := url.URL{Scheme: h.Scheme, Host: r.Host, Path: originalPath(r)}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestURLKey{}, address)))
	})
}

// readPagination parses the parameters of a list and returns the invalid ones.
func readPagination(ctx context.Context, limit, cursor *string) (p pagination, fieldErrs []contract.FieldError) {
	p.listURL, _ = ctx.Value(requestURLKey{}).(url.URL)
	readInt := func(field string, text *string, defaultValue, minValue, maxValue int64, expected string) int64 {
		if stringOrEmpty(text) == "" {
			return defaultValue
		}
		number, err := strconv.ParseInt(*text, 10, 64)
		if err != nil || number < minValue || number > maxValue {
			fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: "expected " + expected})
		}
		return number
	}
	p.limit = readInt("limit", limit, defaultLimit, 1, maxLimit, fmt.Sprintf("a whole number from 1 to %d", maxLimit))
	p.number = readInt("cursor", cursor, 0, 0, maxCursor, "a page number, as in the pagination links")
	return p, fieldErrs
}

// maxCursor prevents the offset of a page from overflowing an int64.
const maxCursor = 1 << 50

// offset returns the number of items before the page.
func (p pagination) offset() int64 { return p.number * p.limit }

// lastPage returns the number of the last page for a total number of items. The first page
// always exists.
func (p pagination) lastPage(total int64) int64 { return max(0, (total-1)/p.limit) }

// validate returns a field error if the page is after the last one.
func (p pagination) validate(total int64) (fieldErrs []contract.FieldError) {
	if p.number > p.lastPage(total) {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: "cursor", Message: fmt.Sprintf("expected 0 to %d, the number of the last page", p.lastPage(total))})
	}
	return fieldErrs
}

// links are the pagination links of a page.
type links struct {
	self, first, last string
	prev, next        *string
}

// links returns the links of the page for a total number of items.
func (p pagination) links(total int64) (links, error) {
	if fieldErrs := p.validate(total); len(fieldErrs) > 0 {
		return links{}, validationError(fieldErrs)
	}
	return links{
		self: p.link(p.number), first: p.link(0), last: p.link(p.lastPage(total)),
		prev: p.linkOrNil(p.number-1, total), next: p.linkOrNil(p.number+1, total),
	}, nil
}

// page returns the part of the list to load.
func (p pagination) page() record.Page { return record.Page{Offset: p.offset(), Limit: p.limit} }

// link returns the URL of another page of the list.
func (p pagination) link(number int64) string {
	address, query := p.listURL, url.Values{}
	maps.Copy(query, p.filters)
	query.Set("limit", strconv.FormatInt(p.limit, 10))
	query.Set("cursor", strconv.FormatInt(number, 10))
	address.RawQuery = query.Encode()
	return address.String()
}

// linkOrNil returns the URL of another page, or nil if that page does not exist.
func (p pagination) linkOrNil(number, total int64) *string {
	if number < 0 || number > p.lastPage(total) {
		return nil
	}
	link := p.link(number)
	return &link
}
