// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// contentTypes maps file extensions to media types.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".png":  "image/png",
	".yaml": "application/yaml",
}

// contentSecurityPolicy restricts a page to files of this server and forbids inline scripts
// and styles and framing. Images may be data URLs, which the style sheets of Swagger UI use.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// An asset is embedded content.
type asset struct {
	contentType  string
	open         func() io.ReadSeeker
	gzipped      bool          // whether open returns compressed content
	decompressed func() []byte // decompressed content, computed once
	etag         string        // changes with the content
}

// newAsset returns an asset whose content is read from open. The file extension determines
// the content type; compressed content has the extension .gz.
func newAsset(name string, open func() io.ReadSeeker) *asset {
	plain, isGzip := strings.CutSuffix(name, ".gz")
	contentType, known := contentTypes[path.Ext(plain)]
	hash := sha256.New()
	if _, err := io.Copy(hash, open()); err != nil || !known {
		panic(fmt.Sprintf("embedded file %s has an unknown type or is unreadable: %v", name, err))
	}
	decompress := sync.OnceValue(func() []byte { return gunzip(open()) })
	return &asset{contentType, open, isGzip, decompress, base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:12])}
}

// openBytes returns a function that opens in-memory content.
func openBytes(content []byte) func() io.ReadSeeker {
	return func() io.ReadSeeker { return bytes.NewReader(content) }
}

// openFile returns a function that opens an embedded file without copying its content.
func openFile(files embed.FS, name string) func() io.ReadSeeker {
	return func() io.ReadSeeker {
		file, err := files.Open(name)
		if err != nil {
			panic(fmt.Sprintf("embedded file: %v", err))
		}
		return file.(io.ReadSeeker) // guaranteed by package embed
	}
}

// ServeHTTP serves the content, compressed if possible and accepted by the client.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header, content, etag := w.Header(), a.open(), a.etag
	if a.gzipped {
		header.Set("Vary", "Accept-Encoding")
	}
	switch {
	case a.gzipped && acceptsGzip(r.Header):
		header.Set("Content-Encoding", "gzip")
	case a.gzipped:
		content, etag = bytes.NewReader(a.decompressed()), etag+"-plain"
	}
	header.Set("Content-Type", a.contentType)
	header.Set("ETag", `"`+etag+`"`)
	header.Set("Cache-Control", "no-cache") // revalidate by ETag on every use
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(smallBufferWriter{w}, r, "", time.Time{}, content)
}

// smallBufferWriter is a response writer that needs little memory for slow clients. Assets
// are public, and a client may never read the response; the default copy buffer takes 32 KiB
// per response.
type smallBufferWriter struct{ http.ResponseWriter }

// ReadFrom implements io.ReaderFrom.
func (w smallBufferWriter) ReadFrom(content io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w.ResponseWriter}, content, make([]byte, 2<<10))
}

func gunzip(content io.Reader) []byte {
	var plain []byte
	reader, err := gzip.NewReader(content)
	if err == nil {
		plain, err = io.ReadAll(reader)
	}
	if err != nil {
		panic(fmt.Sprintf("embedded file is not gzip: %v", err))
	}
	return plain
}

// acceptsGzip reports whether a client lists gzip in Accept-Encoding (RFC 9110, section
// 12.5.3).
func acceptsGzip(header http.Header) bool {
	for encoding := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(encoding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
