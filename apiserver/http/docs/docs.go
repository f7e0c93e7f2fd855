// SPDX-License-Identifier: Apache-2.0

// Package docs serves the contracts at /openapi and an API reference at /docs. The reference
// is an embedded Swagger UI that loads nothing from other hosts. The contracts themselves
// belong to package openapi.
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
var pageFiles embed.FS

// swaggerUIFiles are the files of Swagger UI used by the page.
var swaggerUIFiles = []string{
	"swagger-ui.css.gz", "swagger-ui-bundle.js.gz", "swagger-ui-standalone-preset.js.gz", "favicon-32x32.png",
}

// An Application holds the credentials that the page uses to try out calls. Everyone who can
// open the page can read them, so they are for development only. If empty, the page asks for
// credentials.
type Application struct {
	// ID and Key are the credentials.
	ID  string `json:"id,omitempty"`
	Key string `json:"key,omitempty"`
	// Instance is the ID of the instance to call.
	Instance string `json:"instance,omitempty"`
}

// Mount adds the routes to a router. It panics if an embedded file is missing, which is a
// programming error.
func Mount(r chi.Router, application Application) {
	for path, asset := range newAssets(application) {
		r.Method(http.MethodGet, path, asset)
		r.Method(http.MethodHead, path, asset)
	}
	// The links of the page are relative to /docs.
	r.Get("/docs/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "../docs")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}

// newAssets returns all assets by path.
func newAssets(application Application) map[string]*asset {
	all := map[string]*asset{
		"/openapi/engine-v3.yaml": newAsset("engine-v3.yaml", openBytes(openapi.EngineV3)),
		"/openapi/guidance.yaml":  newAsset("guidance.yaml", openBytes(openapi.Guidance)),
		"/docs":                   newAsset("index.html", openFile(pageFiles, "page/index.html")),
		"/docs/page.css":          newAsset("page.css", openFile(pageFiles, "page/page.css")),
		"/docs/page.js":           newAsset("page.js", openFile(pageFiles, "page/page.js")),
		"/docs/application.json":  newAsset("application.json", openBytes(encodeApplication(application))),
	}
	for _, name := range swaggerUIFiles {
		all["/docs/"+strings.TrimSuffix(name, ".gz")] = newAsset(name, openFile(viewer.FS, name))
	}
	return all
}

// encodeApplication encodes an application in the format expected by the page.
func encodeApplication(application Application) []byte {
	encoded, err := json.Marshal(application)
	if err != nil {
		panic(fmt.Sprintf("encoding application: %v", err))
	}
	return encoded
}
