// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/http"
	"net/url"
)

// A secureJar treats cookies over http as if over https.
type secureJar struct{ http.CookieJar }

func (j secureJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.CookieJar.SetCookies(asHTTPS(u), cookies)
}
func (j secureJar) Cookies(u *url.URL) []*http.Cookie { return j.CookieJar.Cookies(asHTTPS(u)) }

func asHTTPS(u *url.URL) *url.URL {
	safe := *u
	safe.Scheme = "https"
	return &safe
}
