// SPDX-License-Identifier: Apache-2.0

package page

import "net/http"

// index says what is where.
func (h *handlers) index(w http.ResponseWriter, r *http.Request) {
	h.render(w, r, http.StatusOK, "index", h.words.In(r.Header.Get("Accept-Language")), nil)
}
