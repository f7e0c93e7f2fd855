// SPDX-License-Identifier: Apache-2.0

package branding

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sampleSVG = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- drawn by hand -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><g><path d="M0 0h8v8z"/></g></svg>
`

// sampleImages returns one image of each type.
func sampleImages(t testing.TB) map[string][]byte {
	t.Helper()
	square := image.NewGray(image.Rect(0, 0, 8, 8))
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, square); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, square, nil); err != nil {
		t.Fatal(err)
	}
	// One lossless pixel, from the format's specification.
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA=")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"image/png": asPNG.Bytes(), "image/jpeg": asJPEG.Bytes(), "image/webp": webp, "image/svg+xml": []byte(sampleSVG)}
}

func TestDataURLRoundTrip(t *testing.T) {
	t.Parallel()
	for kind, data := range sampleImages(t) {
		logo, err := NewLogo(data)
		if diff := cmp.Diff(Logo{kind, data}, logo); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", kind, err, diff)
		}
		if !strings.HasPrefix(logo.DataURL(), "data:"+kind+";base64,") {
			t.Errorf("%s: got data URL %.40s", kind, logo.DataURL())
		}
		decoded, err := ParseLogo(logo.DataURL())
		if diff := cmp.Diff(logo, decoded); diff != "" || err != nil {
			t.Errorf("%s: round trip: error %v (-want +got):\n%s", kind, err, diff)
		}
	}
	if none, err := ParseLogo(Logo{}.DataURL()); err != nil || none.MediaType != "" || none.Data != nil {
		t.Errorf("round trip without a logo: got %v, error %v", none, err)
	}
}

func TestNewLogoRejectsInvalid(t *testing.T) {
	t.Parallel()
	big := append(bytes.Clone(sampleImages(t)["image/png"]), make([]byte, MaxLogoBytes)...)
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                {nil, "not a well-formed XML document"},
		"plain text":           {[]byte("hello"), "not a well-formed XML document"},
		"GIF":                  {[]byte("GIF89a........"), "not a PNG, JPEG or WebP image"},
		"too large":            {big, "expected a PNG, JPEG, WebP or SVG image of at most 128 KiB"},
		"HTML page":            {[]byte("<!DOCTYPE html><html><svg xmlns='http://www.w3.org/2000/svg'></svg></html>"), "root element is not <svg"},
		"no namespace":         {[]byte("<svg/>"), "root element is not <svg"},
		"other namespace":      {[]byte("<svg xmlns='http://www.w3.org/1999/xhtml'/>"), "root element is not <svg"},
		"unclosed element":     {[]byte("<svg xmlns='http://www.w3.org/2000/svg'>"), "not a well-formed XML document"},
		"two root elements":    {[]byte(strings.Repeat("<svg xmlns='http://www.w3.org/2000/svg'/>", 2)), "not a well-formed XML document"},
		"text before the root": {[]byte("logo: <svg xmlns='http://www.w3.org/2000/svg'/>"), "not a well-formed XML document"},
		"text after the root":  {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>;"), "not a well-formed XML document"},
		"Latin-1 encoding":     {[]byte("<?xml version='1.0' encoding='ISO-8859-1'?><svg xmlns='http://www.w3.org/2000/svg'/>"), "XML document in UTF-8"},
		"unknown entity":       {[]byte("<svg xmlns='http://www.w3.org/2000/svg'>&me;</svg>"), "not a well-formed XML document"},
	} {
		if _, err := NewLogo(test.data); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "128 KiB") {
			t.Errorf("%s: got error %v, want %q", name, err, test.want)
		}
	}
	if _, err := NewLogo(big[:MaxLogoBytes]); err != nil {
		t.Errorf("NewLogo with the maximum size: %v", err)
	}
	if _, err := NewLogo([]byte("\ufeff" + sampleSVG)); err != nil {
		t.Errorf("NewLogo with a byte order mark: %v", err)
	}
}

func TestParseLogoRejectsInvalid(t *testing.T) {
	t.Parallel()
	all := sampleImages(t)
	encoded := base64.StdEncoding.EncodeToString(all["image/png"])
	for text, want := range map[string]string{
		"https://acme.example/logo.png":                                "expected the form data:image/png;base64,",
		"data:image/png," + encoded:                                    "expected the form data:image/png;base64,",
		"data:image/png;base64":                                        "expected the form data:image/png;base64,",
		"data:image/png;base64,?":                                      "not valid base64",
		"data:image/png;base64," + encoded + "=":                       "not valid base64",
		"data:image/jpeg;base64," + encoded:                            `media type "image/jpeg", but contains image/png`,
		"data:image/svg+xml;base64," + encoded:                         `media type "image/svg+xml", but contains image/png`,
		"data:;base64," + encoded:                                      `media type "", but contains image/png`,
		"data:image/png;base64,R0lGODlhLi4uLi4=":                       "not a PNG, JPEG or WebP image",
		"data:" + strings.Repeat("x", 999) + ";base64," + encoded:      `media type "` + strings.Repeat("x", 40) + `…"`,
		"data:image/png;base64," + strings.Repeat("A", 4*MaxLogoBytes): "expected a PNG, JPEG, WebP or SVG image of at most 128 KiB",
	} {
		if _, err := ParseLogo(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got error %v, want %q", text, err, want)
		}
	}
}

func FuzzParseLogo(f *testing.F) {
	for _, data := range sampleImages(f) {
		logo, err := NewLogo(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(logo.DataURL())
	}
	f.Add("data:image/png;base64,")
	f.Fuzz(func(t *testing.T, text string) {
		logo, err := ParseLogo(text)
		if err != nil || text == "" {
			return
		}
		if len(logo.Data) == 0 || len(logo.Data) > MaxLogoBytes {
			t.Errorf("ParseLogo accepted a logo of %d bytes", len(logo.Data))
		}
		if decoded, err := ParseLogo(logo.DataURL()); err != nil || !cmp.Equal(logo, decoded) {
			t.Errorf("%.60s: round trip changed the logo, or failed: %v", text, err)
		}
	})
}

func FuzzNewLogo(f *testing.F) {
	for _, data := range sampleImages(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		logo, err := NewLogo(data)
		if err == nil && !bytes.Equal(logo.Data, data) {
			t.Error("NewLogo changed the image")
		}
	})
}
