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

// The tables of the outbox are as River's own migrations make them, so that a newer
// River with other tables is noticed.
func TestOutboxIsRivers(t *testing.T) {
	t.Parallel()
	ours, theirs := filepath.Join(t.TempDir(), "ours.db"), filepath.Join(t.TempDir(), "theirs.db")
	opened(t, ours)
	db := handle(t, theirs)
	migrator, err := rivermigrate.New(riversqlite.New(db), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(riversTables(t, db), riversTables(t, handle(t, ours))); diff != "" {
		t.Errorf("the tables of the outbox differ from River's; migrate them, in a migration of its own:\n%s", diff)
	}
}

func handle(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// riversTables are the columns and indexes of River's tables, in the order of their
// names.
func riversTables(t *testing.T, db *sql.DB) (descriptions []string) {
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
	defer rows.Close() //nolint:errcheck // only read
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
