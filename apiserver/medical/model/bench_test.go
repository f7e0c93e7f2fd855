// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"path/filepath"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// BenchmarkOpen measures opening a full-size release, including all checks.
func BenchmarkOpen(b *testing.B) {
	file := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Bytes(b)
	path := filepath.Join(b.TempDir(), "full.release")
	if err := model.WriteFile(path, file); err != nil {
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
	b.ReportMetric(float64(len(file)), "file-bytes")
}

// BenchmarkBuildAndEncode measures the work of the compiler after its checks.
func BenchmarkBuildAndEncode(b *testing.B) {
	draft := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed).Draft()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Encode(draft.Build()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAcquire measures the cost of a lease, which every request pays.
func BenchmarkAcquire(b *testing.B) {
	dir := b.TempDir()
	file := modeltest.New().Bytes(b)
	if err := model.WriteFile(filepath.Join(dir, model.FileName("service-en", november)), file); err != nil {
		b.Fatal(err)
	}
	library, err := model.OpenStore(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer library.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			lease, err := library.Acquire("")
			if err != nil {
				b.Error(err)
				return
			}
			lease.Done()
		}
	})
}
