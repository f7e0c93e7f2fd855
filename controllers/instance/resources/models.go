// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// FormatModel writes a model as the server's --model takes it: id@version, or
// the id alone where the version is left open.
func FormatModel(model v1alpha1.Model) string {
	if model.Version == "" {
		return model.ID
	}
	return model.ID + "@" + model.Version
}

// FormatModels writes models in one line, as ModelsAnnotation holds them.
func FormatModels(models []v1alpha1.Model) string {
	words := make([]string, len(models))
	for i, model := range models {
		words[i] = FormatModel(model)
	}
	return strings.Join(words, ",")
}

// ParseModels reads what FormatModels wrote.
func ParseModels(line string) []v1alpha1.Model {
	if line == "" {
		return nil
	}
	var models []v1alpha1.Model
	for word := range strings.SplitSeq(line, ",") {
		id, version, _ := strings.Cut(word, "@")
		models = append(models, v1alpha1.Model{ID: id, Version: version})
	}
	return models
}

// modelArguments tell the server which models to use, the default one first.
func modelArguments(models []v1alpha1.Model) []string {
	arguments := make([]string, 0, 1+len(models))
	arguments = append(arguments, "--models="+modelsDirectory)
	for _, model := range models {
		arguments = append(arguments, "--model="+FormatModel(model))
	}
	return arguments
}
