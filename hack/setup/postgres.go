// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// clusterSettings is read by Debian's postgresql-common. Without this file in
// it, installing the server makes a cluster "main" and starts it.
const clusterSettings = "/etc/postgresql-common/createcluster.d/anamnesis-setup.conf"

// postgresServer is the PostgreSQL server that is wanted.
type postgresServer struct {
	Listen string `default:"127.0.0.1:0" help:"Where PostgreSQL listens; port 0 is any free one (${default})."`
	Dir    string `placeholder:"DIR" help:"Where PostgreSQL's data, password and log are kept, and taken up again. Left out: a new directory that is removed afterwards."`
}

// provide starts the server, installed first when it is missing. It outlives
// ctx, until it is stopped.
func (p postgresServer) provide(ctx context.Context) (*provision, error) {
	if err := ensurePostgres(ctx); err != nil {
		return nil, err
	}
	server, err := postgrestest.Start(context.WithoutCancel(ctx), postgrestest.Options{Listen: p.Listen, Dir: p.Dir})
	if err != nil {
		return nil, err
	}
	return &provision{
		environment: []string{postgrestest.Variable + "=" + server.URL()},
		place:       server.URL(),
		done:        server.Done(),
		stop:        server.Stop,
	}, nil
}

// ensurePostgres installs PostgreSQL when it is missing.
func ensurePostgres(ctx context.Context) error {
	_, err := postgrestest.Programs(ctx)
	if !errors.Is(err, postgrestest.ErrNotInstalled) {
		return err
	}
	if !installable() {
		return fmt.Errorf("%w; elsewhere install the PostgreSQL server of your system, and its initdb and postgres will be found", err)
	}
	slog.InfoContext(ctx, "installing Debian's PostgreSQL, without a cluster of its own")
	if err := installPostgres(ctx); err != nil {
		return err
	}
	_, err = postgrestest.Programs(ctx)
	return err
}

// installPostgres installs Debian's package and leaves nothing running.
func installPostgres(ctx context.Context) (err error) {
	undo, err := withoutCluster()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo()) }()
	return install(ctx, "postgresql")
}

// withoutCluster keeps the installation from making a cluster, until undo. The
// directory stays; it is one of Debian's.
func withoutCluster() (undo func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(clusterSettings), 0o755); err != nil { //nolint:gosec // as all of /etc
		return nil, err
	}
	if err := os.WriteFile(clusterSettings, []byte("create_main_cluster = false\n"), 0o644); err != nil { //nolint:gosec // as all of /etc
		return nil, err
	}
	return func() error { return os.Remove(clusterSettings) }, nil
}
