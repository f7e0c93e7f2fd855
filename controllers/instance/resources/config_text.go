// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// A logo may be 128 KiB, for which what writes and reads YAML takes tens of milliseconds
// of each visit. A data URL is written as it is, on a line of its own: so it stands aside
// while the rest is encoded and decoded, and what comes out is the same.
const (
	logoLine = "\n  logo: "
	// aside stands in the place of a logo, and is how each begins.
	aside = "data:image/"
)

// encode writes the configuration as the server reads it.
func (c configFile) encode() string {
	logo := ""
	if c.Page != nil && isPlainLogo(c.Page.Logo) {
		page := *c.Page
		logo, page.Logo = page.Logo, aside
		c.Page = &page
	}
	encoded, err := yaml.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("strings and numbers can always be encoded: %v", err))
	}
	if logo == "" {
		return string(encoded)
	}
	return strings.Replace(string(encoded), logoLine+aside+"\n", logoLine+logo+"\n", 1)
}

// decodeConfig reads what encode wrote, or somebody else since.
func decodeConfig(text string) (configFile, error) {
	rest, logo := cutLogo(text)
	var config configFile
	err := yaml.Unmarshal([]byte(rest), &config)
	if logo == "" {
		return config, err
	}
	if err == nil && config.Page != nil && config.Page.Logo == aside {
		config.Page.Logo = logo
		return config, nil
	}
	config = configFile{} // it was something else that was cut out
	return config, yaml.Unmarshal([]byte(text), &config)
}

// cutLogo gives a configuration with aside in the place of the logo, and the logo; empty
// when it is on no line of its own.
func cutLogo(text string) (rest, logo string) {
	before, after, found := strings.Cut(text, logoLine+aside)
	if !found {
		return text, ""
	}
	logo, after, _ = strings.Cut(after, "\n")
	if logo = aside + logo; !isPlainLogo(logo) {
		return text, ""
	}
	return before + logoLine + aside + "\n" + after, logo
}

// isPlainLogo says whether YAML writes a logo as it is.
func isPlainLogo(logo string) bool {
	encoded, isImage := strings.CutPrefix(logo, aside)
	return isImage && strings.IndexFunc(encoded, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/=;,", r)
	}) < 0
}
