// SPDX-License-Identifier: Apache-2.0

package body

import (
	"io/fs"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// Name returns the plain-language name of a region in a language, given as a BCP 47 tag such
// as en-US. It returns an empty string for an unknown region.
func (m *Map) Name(id, language string) string {
	if _, ok := m.index[id]; !ok {
		return ""
	}
	return m.names.Match(language).Text(id)
}

func (m *Map) readNames(texts fs.FS) (err error) {
	if m.names, err = i18n.Load(texts, "body"); err != nil {
		return err
	}
	ids := make([]string, len(m.regions))
	for i, region := range m.regions {
		ids[i] = region.ID
	}
	return m.names.RequireIDs(ids)
}
