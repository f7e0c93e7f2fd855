// SPDX-License-Identifier: Apache-2.0

// Package docs serves the contracts at /openapi and, at /docs, a page on which
// people read them: Swagger UI, which is built in, so that nothing comes from
// elsewhere and nothing has to. What the contracts say is written in package
// openapi.
package docs

import (
	"embed"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	viewer "github.com/swaggest/swgui/v5/static"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
)

//go:embed page
var page embed.FS

// viewerFiles are those of the viewer that the page uses.
var viewerFiles = []string{
	"swagger-ui.css.gz", "swagger-ui-bundle.js.gz", "swagger-ui-standalone-preset.js.gz", "favicon-32x32.png",
}

// Mount adds the routes to a router. Everything it serves is built in: that
// something is not there is a mistake of the program, and a panic.
func Mount(r chi.Router) {
	for path, asset := range assets() {
		r.Method(http.MethodGet, path, asset)
		r.Method(http.MethodHead, path, asset)
	}
	// The links of the page are relative to /docs.
	r.Get("/docs/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "../docs")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}

// assets are all that is served, by path.
func assets() map[string]*asset {
	all := map[string]*asset{
		"/openapi/engine-v3.yaml": newAsset("engine-v3.yaml", bytesOf(openapi.EngineV3)),
		"/openapi/guidance.yaml":  newAsset("guidance.yaml", bytesOf(openapi.Guidance)),
		"/docs":                   newAsset("index.html", fileOf(page, "page/index.html")),
		"/docs/page.css":          newAsset("page.css", fileOf(page, "page/page.css")),
		"/docs/page.js":           newAsset("page.js", fileOf(page, "page/page.js")),
	}
	for _, name := range viewerFiles {
		all["/docs/"+strings.TrimSuffix(name, ".gz")] = newAsset(name, fileOf(viewer.FS, name))
	}
	return all
}
