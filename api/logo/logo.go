// SPDX-License-Identifier: Apache-2.0

// Package logo tells whether something is a picture that pages can show as a
// tenant's logo, and writes it into a configuration and reads it there. The operator
// and the server judge by it. Where a logo is found, and how it is shown, lives
// elsewhere.
package logo

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// MostBytes is how big a logo may be: it travels in the server's configuration, and
// to every patient.
const MostBytes = 128 << 10

// Wanted says what a logo may be.
const Wanted = "a PNG, JPEG, WebP or SVG picture of at most 128 KiB"

// A Logo is a picture. The zero value is none.
type Logo struct {
	// Type is its media type: image/png, image/jpeg, image/webp or image/svg+xml.
	Type string
	Data []byte
}

const svg = "image/svg+xml"

// pixels are the types that are known by how they begin, as browsers tell them.
var pixels = []string{"image/png", "image/jpeg", "image/webp"}

// Of takes a picture by what it holds. Scripts in it are its author's: nothing of it
// runs where it is shown as an image.
func Of(data []byte) (Logo, error) {
	if len(data) > MostBytes {
		return Logo{}, fmt.Errorf("it has %d bytes: expected %s", len(data), Wanted)
	}
	if found := http.DetectContentType(data); slices.Contains(pixels, found) {
		return Logo{found, data}, nil
	}
	if err := checkSVG(data); err != nil {
		return Logo{}, fmt.Errorf("it begins as no PNG, JPEG or WebP, and %w: expected %s", err, Wanted)
	}
	return Logo{svg, data}, nil
}

// svgRoot is the root of a drawing. Without the name space browsers show nothing.
var svgRoot = xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}

// checkSVG says why something is no SVG.
func checkSVG(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	root, err := nextRoot(decoder)
	if err == nil && root != svgRoot {
		return fmt.Errorf("as SVG its root is not <svg xmlns=%q>", svgRoot.Space)
	}
	if err == nil {
		err = decoder.Skip()
	}
	if err == nil {
		_, err = nextRoot(decoder)
	}
	if !errors.Is(err, io.EOF) || root != svgRoot {
		return errors.New("as SVG it is not one well-formed document of XML in UTF-8")
	}
	return nil
}

// nextRoot reads up to what an element outside of all others contains, and gives its
// name; io.EOF when there is none.
func nextRoot(decoder *xml.Decoder) (xml.Name, error) {
	for {
		token, err := decoder.Token()
		if err != nil {
			return xml.Name{}, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			return token.Name, nil
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return xml.Name{}, errors.New("text outside of all elements")
			}
		}
	}
}

// DataURL writes a logo as data:image/png;base64,…, and none as nothing.
func (l Logo) DataURL() string {
	if l.Type == "" {
		return ""
	}
	return "data:" + l.Type + ";base64," + base64.StdEncoding.EncodeToString(l.Data)
}

// Parse reads what DataURL writes. The picture must be what its type says.
func Parse(text string) (Logo, error) {
	if text == "" {
		return Logo{}, nil
	}
	head, encoded, found := strings.Cut(text, ",")
	said, isBase64 := strings.CutSuffix(head, ";base64")
	said, isData := strings.CutPrefix(said, "data:")
	if !found || !isBase64 || !isData {
		return Logo{}, errors.New("it is not a data URL: write it as data:image/png;base64,…")
	}
	if len(encoded) > base64.StdEncoding.EncodedLen(MostBytes) {
		return Logo{}, fmt.Errorf("it is longer than %d bytes: expected %s", MostBytes, Wanted)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Logo{}, errors.New("what follows the comma is not base64")
	}
	logo, err := Of(data)
	if err != nil {
		return Logo{}, err
	}
	if logo.Type != said {
		return Logo{}, fmt.Errorf("it says that it is %q, and is %s", shortened(said), logo.Type)
	}
	return logo, nil
}

// shortened keeps what somebody wrote within an error.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
