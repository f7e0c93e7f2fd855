// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// createClusterConfig is a configuration file of Debian's postgresql-common. It prevents
// the installation of the server from creating and starting a cluster named "main".
const createClusterConfig = "/etc/postgresql-common/createcluster.d/anamnesis-setup.conf"

// postgresServer describes the PostgreSQL server to start.
type postgresServer struct {
	Listen string `default:"127.0.0.1:0" help:"Address PostgreSQL listens on; port 0 picks a free port. Defaults to ${default}."`
	Dir    string `placeholder:"DIR" help:"Directory for PostgreSQL's data, password and log, reused by later runs. Defaults to a temporary directory, removed on exit."`
}

// setUp starts the server, and installs PostgreSQL first if it is missing. The server
// keeps running after ctx is done, until it is stopped.
func (p postgresServer) setUp(ctx context.Context) (*dependency, error) {
	if err := ensurePostgres(ctx); err != nil {
		return nil, err
	}
	server, err := postgrestest.Start(context.WithoutCancel(ctx), postgrestest.Options{Listen: p.Listen, Dir: p.Dir})
	if err != nil {
		return nil, err
	}
	return &dependency{
		env:      []string{postgrestest.URLEnv + "=" + server.URL()},
		location: server.URL(),
		done:     server.Done(),
		stop:     server.Stop,
	}, nil
}

// ensurePostgres installs PostgreSQL if it is missing.
func ensurePostgres(ctx context.Context) error {
	_, err := postgrestest.FindBinDir(ctx)
	if !errors.Is(err, postgrestest.ErrNotInstalled) {
		return err
	}
	if !canInstall() {
		return fmt.Errorf("%w: install the PostgreSQL server with your package manager (automatic installation requires root on Debian)", err)
	}
	if err := installPostgres(ctx); err != nil {
		return err
	}
	_, err = postgrestest.FindBinDir(ctx)
	return err
}

// installPostgres installs Debian's package without starting a server.
func installPostgres(ctx context.Context) (err error) {
	undo, err := disableDefaultCluster()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo()) }()
	return installPackages(ctx, "postgresql")
}

// disableDefaultCluster prevents the installation from creating a cluster until undo is
// called. undo keeps the directory, because it belongs to a Debian package.
func disableDefaultCluster() (undo func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(createClusterConfig), 0o755); err != nil { //nolint:gosec // public, like all of /etc
		return nil, err
	}
	if err := os.WriteFile(createClusterConfig, []byte("create_main_cluster = false\n"), 0o644); err != nil { //nolint:gosec // public, like all of /etc
		return nil, err
	}
	return func() error { return os.Remove(createClusterConfig) }, nil
}
