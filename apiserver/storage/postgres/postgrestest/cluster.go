// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// superuser is the role that owns a cluster.
const superuser = "postgres"

// cluster is the data of a server: a directory with data/, password and log.
type cluster struct {
	binDir    string // directory with initdb and postgres
	dir       string
	temporary bool
	password  string
	account   *account // user that runs the server; nil is the current user
	log       *os.File // output of the PostgreSQL programs
}

// newCluster creates a cluster in dir, or in a new directory if dir is empty. It reuses
// a cluster that already exists in dir.
func newCluster(ctx context.Context, binDir, dir string) (*cluster, error) {
	c := &cluster{binDir: binDir, dir: dir, temporary: dir == ""}
	var err error
	if c.account, err = unprivilegedAccount(); err != nil {
		return nil, err
	}
	if err := c.createDir(); err != nil {
		return nil, err
	}
	if c.log, err = os.OpenFile(c.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.ensureInitialized(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// createDir creates the directory and makes the account its owner.
func (c *cluster) createDir() (err error) {
	if c.temporary {
		c.dir, err = os.MkdirTemp(c.account.tempDir(), "anamnesis-postgres-")
	} else if c.dir, err = filepath.Abs(c.dir); err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err != nil {
		return err
	}
	return c.account.chown(c.dir)
}

// ensureInitialized creates the password and the data unless they exist.
func (c *cluster) ensureInitialized(ctx context.Context) error {
	password, err := os.ReadFile(c.path("password"))
	if err == nil {
		c.password = string(password)
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.password = rand.Text()
	passwordFile := c.path("password.new")
	if err := os.WriteFile(passwordFile, []byte(c.password), 0o600); err != nil {
		return err
	}
	if err := c.account.chown(passwordFile); err != nil {
		return err
	}
	if err := c.initialize(ctx, passwordFile); err != nil {
		return err
	}
	return os.Rename(passwordFile, c.path("password")) // last, because it marks the cluster as complete
}

// initialize creates the data directory, replacing the remains of a failed attempt.
func (c *cluster) initialize(ctx context.Context, passwordFile string) error {
	if err := os.RemoveAll(c.dataDir()); err != nil {
		return err
	}
	err := c.command(ctx, "initdb", "-D", c.dataDir(), "-U", superuser, "--pwfile", passwordFile,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync").Run()
	if err != nil {
		return fmt.Errorf("initdb failed: %w; last log lines:\n%s", err, c.logTail())
	}
	hbaFile := c.path("data/pg_hba.conf")
	if err := os.WriteFile(hbaFile, []byte("host all all all scram-sha-256\n"), 0o600); err != nil {
		return err
	}
	return c.account.chown(hbaFile)
}

// command returns a PostgreSQL command that runs as the account and writes to the log.
// The command does not inherit the environment, which may contain secrets and settings of
// other servers.
func (c *cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.binDir, program), args...)
	command.Dir = c.dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C", "TZ=UTC"}
	command.SysProcAttr = c.account.sysProcAttr()
	command.Stdout, command.Stderr = c.log, c.log
	return command
}

// logTail returns the last lines of the log.
func (c *cluster) logTail() string {
	log, err := os.ReadFile(c.path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// url returns the URL of the superuser's database on a server listening at host, which
// may be a wildcard address.
func (c *cluster) url(host, port string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return (&url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, c.password),
		Host:     net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}).String()
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }
func (c *cluster) dataDir() string         { return c.path("data") }

// close closes the log and deletes the files of a temporary cluster.
func (c *cluster) close() error {
	err := c.log.Close()
	if c.temporary {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
