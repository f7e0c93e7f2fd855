// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"path/filepath"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// settingsPaths returns the paths of a sender's files in a directory. A missing or empty
// file means the default.
func settingsPaths(format configv1alpha1.SenderFormat, directory string) []string {
	paths := make([]string, len(format.Keys))
	for i, name := range format.FileNames() {
		paths[i] = filepath.Join(directory, name)
	}
	return paths
}

// readSettings returns a sender's settings by key.
func readSettings(format configv1alpha1.SenderFormat, directory string, files reload.Files) map[string][]byte {
	content := map[string][]byte{}
	for i, path := range settingsPaths(format, directory) {
		if value, ok := files[path]; ok {
			content[format.Keys[i]] = value
		}
	}
	return content
}

// parseMailer parses the email settings. It returns nil if they are all empty. Errors
// name the file and the expected format, never the value.
func parseMailer(content map[string][]byte) (*Mailer, error) {
	if configv1alpha1.SMTPFormat.IsEmpty(content) {
		return nil, nil
	}
	settings, err := configv1alpha1.ParseSMTP(content)
	if err != nil {
		return nil, configv1alpha1.PrefixFields(configv1alpha1.SMTPFormat.FileName(""), err)
	}
	return new(Mailer(*settings)), nil
}

// parseGateway parses the SMS gateway settings. It returns nil if they are all empty.
// Errors name the file and the expected format, never the value.
func parseGateway(content map[string][]byte, development bool) (*SMSGateway, error) {
	if configv1alpha1.SMSGatewayFormat.IsEmpty(content) {
		return nil, nil
	}
	settings, err := configv1alpha1.ParseSMSGateway(content, development)
	if err != nil {
		return nil, configv1alpha1.PrefixFields(configv1alpha1.SMSGatewayFormat.FileName(""), err)
	}
	return new(SMSGateway(*settings)), nil
}
