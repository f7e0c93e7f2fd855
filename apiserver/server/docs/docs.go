// SPDX-License-Identifier: Apache-2.0

// Package docs serves the contracts at /openapi and, at /docs, a page on which
// people read them: Swagger UI, which is built in, so that nothing comes from
// elsewhere and nothing has to. What the contracts say is written in package
// openapi.
package docs

import (
	"embed"
	"encoding/json"
	"fmt"
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

// An Application is what the page calls as, when somebody tries a call out.
// Everybody who can open the page can read it, so it is for development only;
// empty, the page asks for one.
type Application struct {
	// ID and Key are its credentials.
	ID  string `json:"id,omitempty"`
	Key string `json:"key,omitempty"`
	// Instance is the id of the instance that it calls.
	Instance string `json:"instance,omitempty"`
}

// Mount adds the routes to a router. Everything else that it serves is built
// in: that something is not there is a mistake of the program, and a panic.
func Mount(r chi.Router, application Application) {
	for path, asset := range assets(application) {
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
func assets(application Application) map[string]*asset {
	all := map[string]*asset{
		"/openapi/engine-v3.yaml": newAsset("engine-v3.yaml", bytesOf(openapi.EngineV3)),
		"/openapi/guidance.yaml":  newAsset("guidance.yaml", bytesOf(openapi.Guidance)),
		"/docs":                   newAsset("index.html", fileOf(page, "page/index.html")),
		"/docs/page.css":          newAsset("page.css", fileOf(page, "page/page.css")),
		"/docs/page.js":           newAsset("page.js", fileOf(page, "page/page.js")),
		"/docs/application.json":  newAsset("application.json", bytesOf(encode(application))),
	}
	for _, name := range viewerFiles {
		all["/docs/"+strings.TrimSuffix(name, ".gz")] = newAsset(name, fileOf(viewer.FS, name))
	}
	return all
}

// encode writes an application as the page reads it.
func encode(application Application) []byte {
	encoded, err := json.Marshal(application)
	if err != nil {
		panic(fmt.Sprintf("three texts, and no JSON: %v", err))
	}
	return encoded
}
