// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// A jsonSchema is the schema of a string field in the CRD.
type jsonSchema = apiextensionsv1.JSONSchemaProps

// pageFieldSchemas returns the string fields of spec.page.
func pageFieldSchemas(t *testing.T) map[string]jsonSchema {
	t.Helper()
	content, err := os.ReadFile("../../config/crd/bases/anamnesis.dev_instances.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	fields := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["page"].Properties
	for name, field := range fields {
		if field.Type != "string" {
			delete(fields, name)
		}
	}
	if len(fields) != 5 {
		t.Fatalf("spec.page has %d texts, expected name, privacyURL, helpURL, emergencyNumber and crisisLine", len(fields))
	}
	return fields
}

var matchesRulePattern = regexp.MustCompile(`^self\.matches\(r?'(.*)'\)$`)

// admittedValues generates values that the CRD admits.
func admittedValues(t *testing.T, field jsonSchema) *rapid.Generator[string] {
	t.Helper()
	rule := matchesRulePattern.FindStringSubmatch(field.XValidations[0].Rule)
	if rule == nil {
		t.Fatalf("the rule %s is not self.matches('…')", field.XValidations[0].Rule)
	}
	return rapid.StringMatching(rule[1]).Filter(func(text string) bool {
		return int64(utf8.RuneCountInString(text)) <= *field.MaxLength
	})
}

// TestParseAcceptsPagesAdmittedByCRD generates a page that the CRD admits and writes it as the
// operator does: a server that rejected it would ignore all later configuration changes.
func TestParseAcceptsPagesAdmittedByCRD(t *testing.T) {
	t.Parallel()
	generators := map[string]*rapid.Generator[string]{}
	for name, field := range pageFieldSchemas(t) {
		generators[name] = admittedValues(t, field)
	}
	rapid.Check(t, func(t *rapid.T) {
		said := map[string]string{}
		for _, name := range []string{"name", "privacyURL", "helpURL", "emergencyNumber", "crisisLine"} {
			said[name] = generators[name].Draw(t, name)
		}
		file, err := yaml.Marshal(map[string]any{"page": said})
		if err != nil {
			t.Fatal(err)
		}
		parsed, warning, err := Parse(file)
		got := map[string]string{
			"name": parsed.Page.Name, "privacyURL": parsed.Page.PrivacyURL, "helpURL": parsed.Page.HelpURL,
			"emergencyNumber": parsed.Page.EmergencyNumber, "crisisLine": parsed.Page.CrisisLine,
		}
		if diff := cmp.Diff(said, got); diff != "" || warning != "" || err != nil {
			t.Errorf("%s: %s, %v (-said +read):\n%s", file, warning, err, diff)
		}
	})
}
