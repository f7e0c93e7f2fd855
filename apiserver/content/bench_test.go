// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

// BenchmarkCompile compiles the content, all checks included, as a developer's
// first start does.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		results, err := compile.All(content.FS)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(results[0].Release)), "file-bytes")
	}
}
