// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// A logo may be 128 KiB, which costs the YAML encoder and decoder tens of milliseconds
// per reconcile. A data URL needs no YAML quoting and occupies a line of its own, so it
// is swapped for a placeholder during encoding and decoding. The output is the same.
const (
	logoYAMLPrefix = "\n  logo: "
	// logoPlaceholder replaces the logo, and is also the prefix of every logo.
	logoPlaceholder = "data:image/"
)

// encode encodes the configuration as the server reads it.
func (c configFile) encode() string {
	logo := ""
	if c.Page != nil && isPlainLogo(c.Page.Logo) {
		page := *c.Page
		logo, page.Logo = page.Logo, logoPlaceholder
		c.Page = &page
	}
	encoded, err := yaml.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("encoding the configuration: %v", err))
	}
	if logo == "" {
		return string(encoded)
	}
	return strings.Replace(string(encoded), logoYAMLPrefix+logoPlaceholder+"\n", logoYAMLPrefix+logo+"\n", 1)
}

// decodeConfig decodes the output of encode, which may have been edited since.
func decodeConfig(text string) (configFile, error) {
	rest, logo := extractLogo(text)
	var config configFile
	err := yaml.Unmarshal([]byte(rest), &config)
	if logo == "" {
		return config, err
	}
	if err == nil && config.Page != nil && config.Page.Logo == logoPlaceholder {
		config.Page.Logo = logo
		return config, nil
	}
	config = configFile{} // the text cut out was not the logo
	return config, yaml.Unmarshal([]byte(text), &config)
}

// extractLogo returns the configuration with logoPlaceholder instead of the logo, and
// the logo. The logo is empty if it does not occupy a line of its own.
func extractLogo(text string) (rest, logo string) {
	before, after, found := strings.Cut(text, logoYAMLPrefix+logoPlaceholder)
	if !found {
		return text, ""
	}
	logo, after, _ = strings.Cut(after, "\n")
	if logo = logoPlaceholder + logo; !isPlainLogo(logo) {
		return text, ""
	}
	return before + logoYAMLPrefix + logoPlaceholder + "\n" + after, logo
}

// isPlainLogo reports whether YAML encodes a logo without quoting.
func isPlainLogo(logo string) bool {
	encoded, isImage := strings.CutPrefix(logo, logoPlaceholder)
	return isImage && strings.IndexFunc(encoded, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/=;,", r)
	}) < 0
}
