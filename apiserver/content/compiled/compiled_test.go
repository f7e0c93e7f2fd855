// SPDX-License-Identifier: Apache-2.0

//go:build !race

package compiled

import (
	"os"
	"testing"
)

// The content of a region is found by its folder and by the language of its model,
// whether or not it has been compiled before.
func TestForLanguageAcceptsDirAndTag(t *testing.T) {
	for _, directory := range []string{os.Getenv(DirEnvVar), ""} {
		t.Setenv(DirEnvVar, directory)
		folder, err := ForLanguage("en-us")
		if err != nil {
			t.Fatal(err)
		}
		said, err := ForLanguage("en-US")
		if err != nil || said.Release != folder.Release || said.Meta.Language != "en-US" {
			t.Errorf("en-US is %s in %s, %v", said.Name, said.Meta.Language, err)
		}
	}
}
