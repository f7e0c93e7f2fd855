// SPDX-License-Identifier: Apache-2.0

package branding

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

// MaxLogoBytes is the maximum size of a logo. It is part of the server's configuration and
// is sent to every patient.
const MaxLogoBytes = 128 << 10

// LogoRequirements describes the accepted logos for error messages.
const LogoRequirements = "a PNG, JPEG, WebP or SVG picture of at most 128 KiB"

// A Logo is a picture. The zero value means no logo.
type Logo struct {
	// MediaType is image/png, image/jpeg, image/webp or image/svg+xml.
	MediaType string
	Data      []byte
}

const svgType = "image/svg+xml"

// rasterTypes are the media types that are detected from the first bytes, as browsers
// do.
var rasterTypes = []string{"image/png", "image/jpeg", "image/webp"}

// NewLogo returns a logo from the bytes of a picture, whose type it detects. Scripts in an
// SVG are not removed: browsers do not run them in images.
func NewLogo(data []byte) (Logo, error) {
	if len(data) > MaxLogoBytes {
		return Logo{}, fmt.Errorf("it has %d bytes: expected %s", len(data), LogoRequirements)
	}
	if found := http.DetectContentType(data); slices.Contains(rasterTypes, found) {
		return Logo{found, data}, nil
	}
	if err := validateSVG(data); err != nil {
		return Logo{}, fmt.Errorf("it begins as no PNG, JPEG or WebP, and %w: expected %s", err, LogoRequirements)
	}
	return Logo{svgType, data}, nil
}

// svgRoot is the root element of an SVG. Without the namespace, browsers show nothing.
var svgRoot = xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}

// validateSVG returns why data is not an SVG, or nil if it is.
func validateSVG(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	root, err := readRootName(decoder)
	if err == nil && root != svgRoot {
		return fmt.Errorf("as SVG its root is not <svg xmlns=%q>", svgRoot.Space)
	}
	if err == nil {
		err = decoder.Skip()
	}
	if err == nil {
		_, err = readRootName(decoder)
	}
	if !errors.Is(err, io.EOF) || root != svgRoot {
		return errors.New("as SVG it is not one well-formed document of XML in UTF-8")
	}
	return nil
}

// readRootName reads up to the next element at the top level and returns its name, or
// io.EOF at the end.
func readRootName(decoder *xml.Decoder) (xml.Name, error) {
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

// DataURL encodes a logo as data:image/png;base64,…, or as an empty string if there is
// no logo.
func (l Logo) DataURL() string {
	if l.MediaType == "" {
		return ""
	}
	return "data:" + l.MediaType + ";base64," + base64.StdEncoding.EncodeToString(l.Data)
}

// ParseLogo decodes the output of Logo.DataURL. The picture must match its media type.
func ParseLogo(text string) (Logo, error) {
	if text == "" {
		return Logo{}, nil
	}
	head, encoded, found := strings.Cut(text, ",")
	said, isBase64 := strings.CutSuffix(head, ";base64")
	said, isData := strings.CutPrefix(said, "data:")
	if !found || !isBase64 || !isData {
		return Logo{}, errors.New("it is not a data URL: write it as data:image/png;base64,…")
	}
	if len(encoded) > base64.StdEncoding.EncodedLen(MaxLogoBytes) {
		return Logo{}, fmt.Errorf("it is longer than %d bytes: expected %s", MaxLogoBytes, LogoRequirements)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Logo{}, errors.New("what follows the comma is not base64")
	}
	logo, err := NewLogo(data)
	if err != nil {
		return Logo{}, err
	}
	if logo.MediaType != said {
		return Logo{}, fmt.Errorf("it says that it is %q, and is %s", truncate(said), logo.MediaType)
	}
	return logo, nil
}

// truncate shortens user input for an error message.
func truncate(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
