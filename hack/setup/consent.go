// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// installEnv is the environment variable that decides whether Debian packages are
// installed: yes or no. If unset, the user is asked; without a terminal, the answer is
// yes. hack/cluster reads it, too.
const installEnv = "ANAMNESIS_INSTALL"

// A question asks the user once whether to install packages.
type question struct {
	input    io.Reader
	output   io.Writer
	decision string // the value of installEnv
	terminal bool   // whether input is a terminal
}

// askUser returns the question to the user of this process.
func askUser() question {
	return question{
		input:    os.Stdin,
		output:   os.Stderr,
		decision: os.Getenv(installEnv),
		terminal: term.IsTerminal(int(os.Stdin.Fd())),
	}
}

// ask announces the packages, and returns an error unless they may be installed.
func (q question) ask(packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	names := strings.Join(packages, " ")
	if q.decision == "" && q.terminal {
		fmt.Fprintf(q.output, "These Debian packages are missing: %s\nInstall them with apt-get? [Y/n] ", names)
		q.decision = q.readAnswer()
	} else if q.decision != "no" {
		fmt.Fprintf(q.output, "installing Debian packages: %s (%s=no prevents it)\n", names, installEnv)
	}
	switch q.decision {
	case "", "yes":
		return nil
	case "no":
		return fmt.Errorf("installing packages was declined; to install them yourself: apt-get install --no-install-recommends %s", names)
	default:
		return fmt.Errorf("installing packages: %q is neither yes nor no", q.decision)
	}
}

// readAnswer reads yes or no. An empty line is yes, and the end of the input is no.
func (q question) readAnswer() string {
	line, err := bufio.NewReader(q.input).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	switch {
	case err != nil || answer == "n":
		return "no"
	case answer == "" || answer == "y":
		return "yes"
	default:
		return answer
	}
}

// missingPackages returns the Debian packages that the dependencies lack.
func (l *commandLine) missingPackages(ctx context.Context) ([]string, error) {
	var missing []string
	for _, need := range l.Dependencies {
		packages, err := lookUpMissing[need](ctx)
		if err != nil {
			return nil, err
		}
		missing = append(missing, packages...)
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}

// lookUpMissing returns the packages that a dependency lacks, by dependency.
var lookUpMissing = map[string]func(context.Context) ([]string, error){
	"postgres": missingPostgres,
	"browser":  missingBrowser,
	"node":     missingNode,
}

func missingPostgres(ctx context.Context) ([]string, error) {
	_, err := postgrestest.FindBinDir(ctx)
	if errors.Is(err, postgrestest.ErrNotInstalled) {
		return []string{"postgresql"}, nil
	}
	return nil, err
}

func missingBrowser(context.Context) ([]string, error) {
	var missing []string
	if _, err := findChromium(); err != nil && os.Getenv(programs.BrowserEnv) == "" {
		missing = append(missing, chromiumPackages...)
	}
	if os.Getenv(programs.AxeEnv) != "" {
		return missing, nil
	}
	cached, err := axeCachePath()
	if err != nil {
		return nil, err
	}
	_, axeErr := os.Stat(cached)
	_, npmErr := exec.LookPath("npm")
	if axeErr != nil && npmErr != nil {
		missing = append(missing, "npm")
	}
	return missing, nil
}

// missingNode asks the local cluster, which installs its own packages.
func missingNode(ctx context.Context) ([]string, error) {
	output, err := exec.CommandContext(ctx, filepath.Join("bin", "cluster"), "packages").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of the local cluster: %w (build it with `make bin/cluster`)", err)
	}
	return strings.Fields(string(output)), nil
}
