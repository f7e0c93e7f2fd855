// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"testing"
)

// TestCanceledTransactionReportsCancellation checks that a transaction which database/sql
// has already rolled back, because its context was canceled, reports the cancellation.
func TestCanceledTransactionReportsCancellation(t *testing.T) {
	t.Parallel()
	db, err := openHandle(filepath.Join(t.TempDir(), "test.db"), url.Values{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	err = inTx(ctx, db, func(tx *sql.Tx) error {
		cancel()
		for err := error(nil); !errors.Is(err, sql.ErrTxDone); { // until it is rolled back
			_, err = tx.ExecContext(t.Context(), "SELECT 1")
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}
