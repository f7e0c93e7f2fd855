// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"os"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/conformance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	conformance.Child()
	os.Exit(postgrestest.Run(m))
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string { return postgrestest.Database(t) })
}

// A database whose own language sorts "a" before "B" and skips punctuation
// gives the same answers.
func TestConformanceInEnglish(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string {
		return postgrestest.Database(t, "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
	})
}
