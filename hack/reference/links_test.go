// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeText     = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	linkTarget   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	absoluteLink = regexp.MustCompile(`^[a-z]+:`)
	headingLine  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinksResolve checks the relative links in all Markdown pages of the repository,
// including their anchors.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "dist" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			checkLinks(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkLinks(t *testing.T, page string) {
	t.Helper()
	for _, found := range linkTarget.FindAllStringSubmatch(readPage(t, page), -1) {
		target, anchor, _ := strings.Cut(found[1], "#")
		if absoluteLink.MatchString(found[1]) {
			continue
		}
		linked := page
		if target != "" {
			linked = filepath.Join(filepath.Dir(page), target)
		}
		if _, err := os.Stat(linked); err != nil {
			t.Errorf("%s: link to %s: %v", page, found[1], err)
		} else if anchor != "" && strings.HasSuffix(linked, ".md") && !hasAnchor(readPage(t, linked), anchor) {
			t.Errorf("%s: link to %s: heading not found", page, found[1])
		}
	}
}

// readPage returns a page with the links in its code disabled.
func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return codeText.ReplaceAllStringFunc(string(text), func(code string) string { return strings.ReplaceAll(strings.Trim(code, "`"), "](", "] (") })
}

// hasAnchor reports whether a page has a heading for which GitHub generates the anchor.
func hasAnchor(page, anchor string) bool {
	for _, heading := range headingLine.FindAllStringSubmatch(page, -1) {
		if strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
