// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// TestOutboxSchemaMatchesRiver compares the outbox tables with River's own migrations,
// to detect schema changes in newer versions of River.
func TestOutboxSchemaMatchesRiver(t *testing.T) {
	t.Parallel()
	ours, theirs := postgrestest.NewDatabase(t), postgrestest.NewDatabase(t)
	if err := open.Migrate(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	pool := openPool(t, theirs)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(describeRiverTables(t, pool), func(description string) bool {
		return strings.Contains(description, "river_job_args_index") || strings.Contains(description, "river_job_metadata_index")
	})
	if diff := cmp.Diff(want, describeRiverTables(t, openPool(t, ours))); diff != "" {
		t.Errorf("outbox tables differ from River's; add a migration (-want +got):\n%s", diff)
	}
}

func openPool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// describeRiverTables returns the columns, indexes and constraints of River's tables,
// ordered by name.
func describeRiverTables(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		SELECT concat_ws(' ', 'column', table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default)
		FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name LIKE 'river_%' AND table_name <> 'river_migration'
		UNION ALL
		SELECT indexdef FROM pg_indexes
		WHERE schemaname = 'public' AND tablename LIKE 'river_%' AND tablename <> 'river_migration'
		UNION ALL
		SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
		WHERE conrelid::regclass::text LIKE 'river_%' AND conrelid::regclass::text <> 'river_migration' AND contype <> 'n'
		UNION ALL
		SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'river_%'
		UNION ALL
		SELECT concat_ws(' ', 'enum', enumlabel) FROM pg_enum
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	descriptions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for i := range descriptions {
		descriptions[i] = strings.Join(strings.Fields(descriptions[i]), " ")
	}
	return descriptions
}
