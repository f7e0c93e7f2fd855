// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies verifies that the contract imports, directly or indirectly, no packages
// of the operator, the server or Kubernetes.
func TestDependencies(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-deps", "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/anamnesis-dev/anamnesis/"
	allowed := []string{module + "api/config/", "go.yaml.in/yaml/v3", "golang.org/x/", "vendor/golang.org/x/"}
	for _, imported := range strings.Fields(string(output)) {
		host, _, _ := strings.Cut(imported, "/")
		if !strings.Contains(host, ".") && host != "vendor" {
			continue // standard library
		}
		if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
			t.Errorf("unexpected import of %s", imported)
		}
	}
}

// TestOperatorAndServerAreSeparate verifies that the operator and the server both import
// this contract, and do not import packages of each other.
func TestOperatorAndServerAreSeparate(t *testing.T) {
	t.Parallel()
	const module = "github.com/anamnesis-dev/anamnesis/"
	for side, other := range map[string]string{"controllers": "apiserver", "apiserver": "controllers"} {
		output, err := exec.Command("go", "list", "-deps", "../../../"+side+"/...").Output()
		if err != nil {
			t.Fatal(err)
		}
		imported := strings.Fields(string(output))
		if !slices.Contains(imported, module+"api/config/v1alpha1") {
			t.Errorf("%s does not import api/config", side)
		}
		for _, name := range imported {
			if name == module+other || strings.HasPrefix(name, module+other+"/") {
				t.Errorf("%s imports %s", side, name)
			}
		}
	}
}
