// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// TestOutboxSchemaMatchesRiver compares the outbox tables with River's own migrations,
// to detect schema changes in newer versions of River.
func TestOutboxSchemaMatchesRiver(t *testing.T) {
	t.Parallel()
	ours, theirs := filepath.Join(t.TempDir(), "ours.db"), filepath.Join(t.TempDir(), "theirs.db")
	openStore(t, ours)
	db := openHandle(t, theirs)
	migrator, err := rivermigrate.New(riversqlite.New(db), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describeRiverTables(t, db), describeRiverTables(t, openHandle(t, ours))); diff != "" {
		t.Errorf("outbox tables differ from River's; add a migration (-want +got):\n%s", diff)
	}
}

func openHandle(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// describeRiverTables returns the columns and indexes of River's tables, ordered by
// name.
func describeRiverTables(t *testing.T, db *sql.DB) (descriptions []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `
		SELECT 'column ' || m.name || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '-') || ' ' || c.pk
		FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name LIKE 'river_%' AND m.name <> 'river_migration'
		UNION ALL
		SELECT 'index ' || m.name || ' ' || group_concat(c.name, ' ') || ' ' || i."unique" || ' ' || i.partial
		FROM sqlite_schema m JOIN pragma_index_list(m.tbl_name) i ON i.name = m.name JOIN pragma_index_info(m.name) c
		WHERE m.type = 'index' AND m.tbl_name LIKE 'river_%' AND m.tbl_name <> 'river_migration'
		GROUP BY m.name
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read-only
	for rows.Next() {
		var description string
		if err := rows.Scan(&description); err != nil {
			t.Fatal(err)
		}
		descriptions = append(descriptions, description)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return descriptions
}
