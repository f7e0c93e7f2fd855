// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
)

// BenchmarkOpen opens the largest release of the content with all checks, as a server
// does for each release.
func BenchmarkOpen(b *testing.B) {
	files, err := compiled.Files()
	if err != nil {
		b.Fatal(err)
	}
	largest := slices.MaxFunc(files, func(a, b compiled.File) int { return cmp.Compare(len(a.Data), len(b.Data)) })
	path := filepath.Join(b.TempDir(), "largest.release")
	if err := model.WriteFile(path, largest.Data); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := model.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(largest.Data)), "file-bytes")
}

// BenchmarkCompile compiles the content with all checks, as a developer's first start
// does.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		results, err := compile.All(content.FS)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(results[0].Release)), "file-bytes")
	}
}
