// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

// GetOwner returns the UID of the Instance that owns a database, or "" if it is unowned.
func GetOwner(ctx context.Context, db queries.DBTX) (string, error) {
	uid, err := queries.New(db).OwnerUID(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return uid, err
}

// PutOwner marks a database with the UID of its owner.
func PutOwner(ctx context.Context, db queries.DBTX, uid string) error {
	return queries.New(db).PutOwnerUID(ctx, uid)
}
