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
const LogoRequirements = "a PNG, JPEG, WebP or SVG image of at most 128 KiB"

// A Logo is an image. The zero value means no logo.
type Logo struct {
	// MediaType is image/png, image/jpeg, image/webp or image/svg+xml.
	MediaType string
	Data      []byte
}

const svgType = "image/svg+xml"

// rasterTypes are the media types that are detected from the first bytes of an image, as
// browsers do.
var rasterTypes = []string{"image/png", "image/jpeg", "image/webp"}

// NewLogo returns a logo with the content of an image file, and detects its media type. It
// does not remove scripts from an SVG, because browsers do not run scripts in images.
func NewLogo(data []byte) (Logo, error) {
	if len(data) > MaxLogoBytes {
		return Logo{}, fmt.Errorf("logo size of %d bytes exceeds the limit: expected %s", len(data), LogoRequirements)
	}
	if found := http.DetectContentType(data); slices.Contains(rasterTypes, found) {
		return Logo{found, data}, nil
	}
	if err := validateSVG(data); err != nil {
		return Logo{}, fmt.Errorf("unsupported logo format: not a PNG, JPEG or WebP image, and %w: expected %s", err, LogoRequirements)
	}
	return Logo{svgType, data}, nil
}

// svgRoot is the root element of an SVG. Browsers do not render an SVG without the
// namespace.
var svgRoot = xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}

// validateSVG returns an error if data is not an SVG.
func validateSVG(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	root, err := readRootName(decoder)
	if err == nil && root != svgRoot {
		return fmt.Errorf("not an SVG: root element is not <svg xmlns=%q>", svgRoot.Space)
	}
	if err == nil {
		err = decoder.Skip()
	}
	if err == nil {
		_, err = readRootName(decoder)
	}
	if !errors.Is(err, io.EOF) || root != svgRoot {
		return errors.New("not an SVG: not a well-formed XML document in UTF-8")
	}
	return nil
}

// readRootName reads up to the next top-level element and returns its name, or io.EOF at
// the end.
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
				return xml.Name{}, errors.New("text outside the root element")
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

// ParseLogo decodes the output of Logo.DataURL. The image must match its media type.
func ParseLogo(text string) (Logo, error) {
	if text == "" {
		return Logo{}, nil
	}
	head, encoded, found := strings.Cut(text, ",")
	mediaType, isBase64 := strings.CutSuffix(head, ";base64")
	mediaType, isData := strings.CutPrefix(mediaType, "data:")
	if !found || !isBase64 || !isData {
		return Logo{}, errors.New("invalid data URL: expected the form data:image/png;base64,…")
	}
	if len(encoded) > base64.StdEncoding.EncodedLen(MaxLogoBytes) {
		return Logo{}, fmt.Errorf("logo size exceeds %d bytes: expected %s", MaxLogoBytes, LogoRequirements)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Logo{}, errors.New("invalid data URL: content is not valid base64")
	}
	logo, err := NewLogo(data)
	if err != nil {
		return Logo{}, err
	}
	if logo.MediaType != mediaType {
		return Logo{}, fmt.Errorf("data URL has media type %q, but contains %s", truncate(mediaType), logo.MediaType)
	}
	return logo, nil
}

// truncate shortens user input for an error message.
func truncate(text string) string {
	const maxLength = 40
	if len(text) <= maxLength {
		return text
	}
	return strings.ToValidUTF8(text[:maxLength], "") + "…"
}
