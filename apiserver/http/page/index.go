// SPDX-License-Identifier: Apache-2.0

package page

import "net/http"

// showIndex renders the index, which links to everything the server offers.
func (h *handlers) showIndex(w http.ResponseWriter, r *http.Request) {
	h.render(w, r, http.StatusOK, "index", h.messages.Match(r.Header.Get("Accept-Language")), nil)
}
