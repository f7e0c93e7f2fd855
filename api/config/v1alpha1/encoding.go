// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Encode encodes a configuration. The same configuration yields the same bytes. A plan must
// not be named <<, because yaml/v3 does not quote the name and decodes it as a merge key.
func Encode(c *ServerConfiguration) []byte {
	rest, logo := *c, ""
	if c.Page != nil && isPlainLogo(c.Page.Logo) {
		page := *c.Page
		logo, page.Logo = page.Logo, logoPlaceholder
		rest.Page = &page
	}
	encoded := encodeYAML(&rest)
	if logo == "" {
		return encoded
	}
	return bytes.Replace(encoded, []byte(logoYAMLPrefix+logoPlaceholder+"\n"), []byte(logoYAMLPrefix+logo+"\n"), 1)
}

// encodeYAML encodes in the style of Kubernetes manifests.
func encodeYAML(c *ServerConfiguration) []byte {
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(c); err != nil {
		panic(fmt.Sprintf("encoding the configuration: %v", err)) // all types of the configuration can be encoded
	}
	return encoded.Bytes()
}

// A logo may have 128 KiB, and encoding and decoding that much YAML takes tens of
// milliseconds per reconcile. A data URL needs no YAML quoting and occupies a line of its
// own, so a placeholder replaces it during encoding and decoding. The output is the same.
const (
	logoYAMLPrefix = "\n  logo: "
	// logoPlaceholder replaces the logo, and is also the prefix of every logo.
	logoPlaceholder = "data:image/"
)

// extractLogo returns the file with logoPlaceholder instead of the logo, and the logo.
// The logo is empty if it does not occupy a line of its own.
func extractLogo(file []byte) (rest []byte, logo string) {
	before, after, found := bytes.Cut(file, []byte(logoYAMLPrefix+logoPlaceholder))
	if !found {
		return file, ""
	}
	line, after, _ := bytes.Cut(after, []byte("\n"))
	if logo = logoPlaceholder + string(line); !isPlainLogo(logo) {
		return file, ""
	}
	return bytes.Join([][]byte{before, []byte(logoYAMLPrefix + logoPlaceholder + "\n"), after}, nil), logo
}

// isPlainLogo reports whether YAML encodes a logo without quoting.
func isPlainLogo(logo string) bool {
	encoded, isImage := strings.CutPrefix(logo, logoPlaceholder)
	return isImage && strings.IndexFunc(encoded, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/=;,", r)
	}) < 0
}
