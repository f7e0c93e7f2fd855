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

// installEnv is the environment variable that allows (yes) or forbids (no) installing
// Debian packages. If unset, the command prompts the user; without a terminal, it
// defaults to yes. hack/cluster also reads the variable.
const installEnv = "ANAMNESIS_INSTALL"

// A consentPrompt asks the user whether to install packages.
type consentPrompt struct {
	input    io.Reader
	output   io.Writer
	decision string // the value of installEnv
	terminal bool   // whether input is a terminal
}

// newConsentPrompt returns a prompt on the terminal of this process.
func newConsentPrompt() consentPrompt {
	return consentPrompt{
		input:    os.Stdin,
		output:   os.Stderr,
		decision: os.Getenv(installEnv),
		terminal: term.IsTerminal(int(os.Stdin.Fd())),
	}
}

// ask prints the packages, and returns an error unless they may be installed.
func (p consentPrompt) ask(packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	names := strings.Join(packages, " ")
	if p.decision == "" && p.terminal {
		fmt.Fprintf(p.output, "These Debian packages are missing: %s\nInstall them with apt-get? [Y/n] ", names)
		p.decision = p.readAnswer()
	} else if p.decision != "no" {
		fmt.Fprintf(p.output, "installing Debian packages: %s (set %s=no to prevent this)\n", names, installEnv)
	}
	switch p.decision {
	case "", "yes":
		return nil
	case "no":
		return fmt.Errorf("installation declined: install the packages with: apt-get install --no-install-recommends %s", names)
	default:
		return fmt.Errorf("invalid answer %q: expected yes or no", p.decision)
	}
}

// readAnswer reads yes or no. An empty line means yes, and the end of the input means no.
func (p consentPrompt) readAnswer() string {
	line, err := bufio.NewReader(p.input).ReadString('\n')
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

// missingPackages returns the missing Debian packages of the dependencies.
func (l *commandLine) missingPackages(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range l.Dependencies {
		packages, err := missingByDependency[name](ctx)
		if err != nil {
			return nil, err
		}
		missing = append(missing, packages...)
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}

// missingByDependency maps a dependency to a function that returns its missing packages.
var missingByDependency = map[string]func(context.Context) ([]string, error){
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

// missingNode returns the missing packages of the local cluster, as reported by its
// packages command.
func missingNode(ctx context.Context) ([]string, error) {
	output, err := exec.CommandContext(ctx, filepath.Join("bin", "cluster"), "packages").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of the local cluster: %w (build it with `make bin/cluster`)", err)
	}
	return strings.Fields(string(output)), nil
}
