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

// cluster is what a server serves: a directory with data/, password and log.
type cluster struct {
	programs  string // the directory of initdb and postgres
	dir       string
	temporary bool
	password  string
	account   *account // who runs the server; nil is whoever we are
	log       *os.File // what the programs say
}

// newCluster makes a cluster in dir, or in a new directory when dir is empty,
// or takes up the one that dir holds.
func newCluster(ctx context.Context, programs, dir string) (*cluster, error) {
	c := &cluster{programs: programs, dir: dir, temporary: dir == ""}
	var err error
	if c.account, err = unprivileged(); err != nil {
		return nil, err
	}
	if err := c.makeDir(); err != nil {
		return nil, err
	}
	if c.log, err = os.OpenFile(c.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.fill(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// makeDir makes the directory and gives it to the account.
func (c *cluster) makeDir() (err error) {
	if c.temporary {
		c.dir, err = os.MkdirTemp(c.account.tempDir(), "anamnesis-postgres-")
	} else if c.dir, err = filepath.Abs(c.dir); err == nil {
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err != nil {
		return err
	}
	return c.account.own(c.dir)
}

// fill makes the password and the data unless they are there.
func (c *cluster) fill(ctx context.Context) error {
	password, err := os.ReadFile(c.file("password"))
	if err == nil {
		c.password = string(password)
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.password = rand.Text()
	fresh := c.file("password.new")
	if err := os.WriteFile(fresh, []byte(c.password), 0o600); err != nil {
		return err
	}
	if err := c.account.own(fresh); err != nil {
		return err
	}
	if err := c.initialize(ctx, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, c.file("password")) // last: with it, the cluster is whole
}

// initialize makes the data, afresh when an earlier try left something.
func (c *cluster) initialize(ctx context.Context, passwordFile string) error {
	if err := os.RemoveAll(c.data()); err != nil {
		return err
	}
	err := c.command(ctx, "initdb", "-D", c.data(), "-U", superuser, "--pwfile", passwordFile,
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync").Run()
	if err != nil {
		return fmt.Errorf("initdb: %w; the end of its log:\n%s", err, c.logTail())
	}
	access := c.file("data/pg_hba.conf")
	if err := os.WriteFile(access, []byte("host all all all scram-sha-256\n"), 0o600); err != nil {
		return err
	}
	return c.account.own(access)
}

// command prepares a program of PostgreSQL to run as the account, writing to
// the log. It knows nothing of our environment, which may hold secrets and
// settings of other servers.
func (c *cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.programs, program), args...)
	command.Dir = c.dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C", "TZ=UTC"}
	command.SysProcAttr = c.account.attributes()
	command.Stdout, command.Stderr = c.log, c.log
	return command
}

// logTail returns the last lines of the log.
func (c *cluster) logTail() string {
	log, err := os.ReadFile(c.file("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// url names the database of the superuser on a server that listens at host,
// which may stand for every address of the machine.
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

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }
func (c *cluster) data() string            { return c.file("data") }

// close closes the log and removes the files of a cluster that is not to be
// kept.
func (c *cluster) close() error {
	err := c.log.Close()
	if c.temporary {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
