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

// contentTypes are those of the assets, by the ends of their names.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".png":  "image/png",
	".yaml": "application/yaml",
}

// policy lets a page use what this server has and nothing else: no script or
// style inside of the page, no other host, no frame around it. Pictures may be
// inside of style sheets, as the viewer's are.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// An asset is content that is built in.
type asset struct {
	contentType string
	open        func() io.ReadSeeker
	zipped      bool          // whether what open returns is compressed
	plain       func() []byte // the content of a compressed one, made once
	tag         string        // changes with the content
}

// newAsset makes an asset of what open returns. The name says what it is; that
// of compressed content ends in .gz.
func newAsset(name string, open func() io.ReadSeeker) *asset {
	plain, zipped := strings.CutSuffix(name, ".gz")
	contentType, known := contentTypes[path.Ext(plain)]
	hash := sha256.New()
	if _, err := io.Copy(hash, open()); err != nil || !known {
		panic(fmt.Sprintf("%s is built in, and of no known type or unreadable: %v", name, err))
	}
	plainly := sync.OnceValue(func() []byte { return unzip(open()) })
	return &asset{contentType, open, zipped, plainly, base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:12])}
}

// bytesOf opens content in memory.
func bytesOf(content []byte) func() io.ReadSeeker {
	return func() io.ReadSeeker { return bytes.NewReader(content) }
}

// fileOf opens a file that is built in, without a copy of its content.
func fileOf(files embed.FS, name string) func() io.ReadSeeker {
	return func() io.ReadSeeker {
		file, err := files.Open(name)
		if err != nil {
			panic(fmt.Sprintf("a file that is built in: %v", err))
		}
		return file.(io.ReadSeeker) // as package embed promises
	}
}

// ServeHTTP serves the content, compressed where it is and the client takes it.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header, content, tag := w.Header(), a.open(), a.tag
	if a.zipped {
		header.Set("Vary", "Accept-Encoding")
	}
	switch {
	case a.zipped && acceptsGzip(r.Header):
		header.Set("Content-Encoding", "gzip")
	case a.zipped:
		content, tag = bytes.NewReader(a.plain()), tag+"-plain"
	}
	header.Set("Content-Type", a.contentType)
	header.Set("ETag", `"`+tag+`"`)
	header.Set("Cache-Control", "no-cache") // use none without asking for its tag
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(narrow{w}, r, "", time.Time{}, content)
}

// narrow is a response that takes little memory while a client is slow to read
// it: anybody may ask for an asset, and nobody has to read the answer. Copying
// to it as usual would take 32 KiB for each.
type narrow struct{ http.ResponseWriter }

// ReadFrom implements io.ReaderFrom.
func (w narrow) ReadFrom(content io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w.ResponseWriter}, content, make([]byte, 2<<10))
}

func unzip(content io.Reader) []byte {
	var plain []byte
	reader, err := gzip.NewReader(content)
	if err == nil {
		plain, err = io.ReadAll(reader)
	}
	if err != nil {
		panic(fmt.Sprintf("a file that is built in, and not gzip: %v", err))
	}
	return plain
}

// acceptsGzip reports whether a client names gzip among the encodings that it
// takes (RFC 9110, section 12.5.3).
func acceptsGzip(header http.Header) bool {
	for encoding := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(encoding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
