// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
)

// A safe jar keeps the cookies of http as if it were https.
type safe struct{ http.CookieJar }

func (s safe) SetCookies(u *url.URL, cookies []*http.Cookie) {
	s.CookieJar.SetCookies(https(u), cookies)
}
func (s safe) Cookies(u *url.URL) []*http.Cookie { return s.CookieJar.Cookies(https(u)) }

func https(u *url.URL) *url.URL {
	safe := *u
	safe.Scheme = "https"
	return &safe
}
