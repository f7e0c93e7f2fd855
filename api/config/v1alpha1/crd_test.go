// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// A jsonSchema is the schema of a string field in the CRD.
type jsonSchema = apiextensionsv1.JSONSchemaProps

// pageSchemas returns the fields of spec.page.
func pageSchemas(t *testing.T) map[string]jsonSchema {
	t.Helper()
	content, err := os.ReadFile("../../../config/crd/bases/anamnesis.dev_instances.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["page"].Properties
}

// pageFieldSchemas returns the string fields of spec.page.
func pageFieldSchemas(t *testing.T) map[string]jsonSchema {
	t.Helper()
	fields := pageSchemas(t)
	for name, field := range fields {
		if field.Type != "string" {
			delete(fields, name)
		}
	}
	if len(fields) != 5 {
		t.Fatalf("spec.page has %d string fields, want name, privacyURL, helpURL, emergencyNumber and crisisLine", len(fields))
	}
	return fields
}

// TestCRDHasSameDefaults checks that colors have the same defaults in an Instance and in a
// configuration.
func TestCRDHasSameDefaults(t *testing.T) {
	t.Parallel()
	colors := pageSchemas(t)["colors"].Properties
	for name, want := range map[string]string{"primary": DefaultPrimaryColor, "accent": DefaultAccentColor} {
		if field := colors[name]; field.Default == nil || string(field.Default.Raw) != strconv.Quote(want) {
			t.Errorf("%s defaults to %v, want %s", name, field.Default, want)
		}
	}
}

var matchesRulePattern = regexp.MustCompile(`^self\.matches\(r?'(.*)'\)$`)

// admittedValues generates values that the CRD admits.
func admittedValues(t *testing.T, field jsonSchema) *rapid.Generator[string] {
	t.Helper()
	rule := matchesRulePattern.FindStringSubmatch(field.XValidations[0].Rule)
	if rule == nil {
		t.Fatalf("rule %s does not have the form self.matches('…')", field.XValidations[0].Rule)
	}
	return rapid.StringMatching(rule[1]).Filter(func(text string) bool {
		return int64(utf8.RuneCountInString(text)) <= *field.MaxLength
	})
}

// TestPagesAdmittedByCRDAreValid checks that the server accepts every page that the CRD
// admits. A server that rejects a page ignores all later configuration changes.
func TestPagesAdmittedByCRDAreValid(t *testing.T) {
	t.Parallel()
	generators := map[string]*rapid.Generator[string]{}
	for name, field := range pageFieldSchemas(t) {
		generators[name] = admittedValues(t, field)
	}
	rapid.Check(t, func(t *rapid.T) {
		page := Page{
			Name: generators["name"].Draw(t, "name"), PrivacyURL: generators["privacyURL"].Draw(t, "privacyURL"), HelpURL: generators["helpURL"].Draw(t, "helpURL"),
			EmergencyNumber: generators["emergencyNumber"].Draw(t, "emergencyNumber"), CrisisLine: generators["crisisLine"].Draw(t, "crisisLine"),
		}
		file := Encode(&ServerConfiguration{Page: &page})
		got, err := DecodeStrict(file)
		if err == nil {
			err = got.Validate()
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := cmp.Diff(page, *got.Page); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	})
}
