// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// FormatModel formats a model for the server's --model flag: id@version, or the id alone
// if no version is set.
func FormatModel(model v1alpha1.Model) string {
	if model.Version == "" {
		return model.ID
	}
	return model.ID + "@" + model.Version
}

// FormatModels formats models in one line, for ModelsAnnotation.
func FormatModels(models []v1alpha1.Model) string {
	formatted := make([]string, len(models))
	for i, model := range models {
		formatted[i] = FormatModel(model)
	}
	return strings.Join(formatted, ",")
}

// ParseModels parses the output of FormatModels.
func ParseModels(text string) []v1alpha1.Model {
	if text == "" {
		return nil
	}
	var models []v1alpha1.Model
	for entry := range strings.SplitSeq(text, ",") {
		id, version, _ := strings.Cut(entry, "@")
		models = append(models, v1alpha1.Model{ID: id, Version: version})
	}
	return models
}

// modelArguments returns the server's model flags, with the default model first.
func modelArguments(models []v1alpha1.Model) []string {
	args := make([]string, 0, 1+len(models))
	args = append(args, "--models="+modelsDirectory)
	for _, model := range models {
		args = append(args, "--model="+FormatModel(model))
	}
	return args
}
