// SPDX-License-Identifier: Apache-2.0

package modelcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

// Check is the command that checks content sources, or with Models the
// release files that a server is to be started with.
type Check struct {
	Content    string   `help:"Directory of content sources to check. Left out: the content built into this program." type:"existingdir" xor:"what"`
	Models     string   `help:"Directory of release files to check in place of content sources." type:"path" xor:"what"`
	Model      []string `help:"With --models: an id, or id@version, that must be there (repeatable). None: every id at its newest version."`
	Brief      bool     `help:"Of content sources say how much is thin, not what."`
	JSON       bool     `help:"Answer in JSON." name:"json"`
	ResultFile string   `help:"Write the JSON answer to this file too." type:"path"`
}

// Run prints what was found. An error means that the check failed; with JSON
// or ResultFile it stands in the answer as well.
func (c *Check) Run(out io.Writer) error {
	if c.Models == "" && len(c.Model) > 0 {
		return errors.New("--model names a release: give the directory of release files with --models")
	}
	answer, err := c.check()
	if err != nil {
		answer = failure{Error: abridged(err.Error())}
	}
	return errors.Join(err, c.tell(out, answer, err != nil))
}

func (c *Check) check() (answer fmt.Stringer, err error) {
	if c.Models != "" {
		return checkReleases(c.Models, c.Model)
	}
	results, err := compileAll(c.Content)
	if err != nil {
		return nil, err
	}
	reports := reports{brief: c.Brief}
	for _, result := range results {
		reports.Reports = append(reports.Reports, result.Report)
	}
	return reports, reports.unseparated()
}

// tell prints the answer, but for a failure in plain text: that is the
// caller's to print.
func (c *Check) tell(out io.Writer, answer fmt.Stringer, failed bool) error {
	data, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encoding the answer of the check: %w", err)
	}
	if c.ResultFile != "" {
		if err := os.WriteFile(c.ResultFile, data, 0o600); err != nil {
			return fmt.Errorf("writing the answer of the check: %w", err)
		}
	}
	switch {
	case c.JSON:
		_, err = fmt.Fprintf(out, "%s\n", data)
	case !failed:
		_, err = io.WriteString(out, answer.String())
	}
	return err
}

// failure is the answer of a check that failed.
type failure struct {
	Error string `json:"error"`
}

func (f failure) String() string { return f.Error + "\n" }

// abridged keeps an answer within the 4 KiB that Kubernetes keeps of a
// termination message, quotes and escapes included.
func abridged(message string) string {
	const limit = 2000
	if len(message) <= limit {
		return message
	}
	runes := []rune(message)
	return string(runes[:min(len(runes), limit)]) + "…"
}

// reports is the answer of a check of content.
type reports struct {
	Reports []compile.Report `json:"reports"`
	brief   bool
}

// unseparated refuses content with pairs of conditions that nothing separates:
// it compiles, so that it can be written step by step, but it is not done.
func (r reports) unseparated() error {
	for _, report := range r.Reports {
		if pairs := report.Unseparated; len(pairs) > 0 {
			return fmt.Errorf("%d pairs of conditions of %s are told apart by nothing that patients can say: add findings that separate them, or list them under alike with the reason:\n%s",
				len(pairs), report.Model, strings.Join(pairs, "\n"))
		}
	}
	return nil
}

func (r reports) String() string {
	var text string
	for _, report := range r.Reports {
		if r.brief {
			text += report.Brief()
		} else {
			text += report.String()
		}
	}
	return text
}

// releases is the answer of a check of release files.
type releases struct {
	Models []release `json:"models"`
}

type release struct {
	ID          string `json:"id"`
	Version     string `json:"version"`
	Conditions  int    `json:"conditions"`
	Symptoms    int    `json:"symptoms"`
	RiskFactors int    `json:"riskFactors"`
	LabTests    int    `json:"labTests"`
}

func (r releases) String() string {
	var text string
	for _, m := range r.Models {
		text += fmt.Sprintf("%s %s: %d conditions, %d symptoms, %d risk factors, %d laboratory tests\n", m.ID, m.Version, m.Conditions, m.Symptoms, m.RiskFactors, m.LabTests)
	}
	return text
}

// checkReleases opens the releases as a server would.
func checkReleases(dir string, names []string) (answer fmt.Stringer, err error) {
	var wanted []model.Wanted
	for _, name := range names {
		w, err := model.ParseWanted(name)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, w)
	}
	library, err := model.OpenLibrary(dir, wanted)
	if err != nil {
		return nil, err
	}
	defer library.Close()
	var found releases
	for _, meta := range library.Releases() {
		lease, err := library.Acquire(meta.ModelID)
		if err != nil {
			return nil, err
		}
		r := lease.Release()
		found.Models = append(found.Models, release{
			ID:          meta.ModelID,
			Version:     meta.Version,
			Conditions:  len(r.Conditions),
			Symptoms:    count(r, model.Symptom),
			RiskFactors: count(r, model.RiskFactor),
			LabTests:    len(r.LabTests),
		})
		lease.Done()
	}
	return found, nil
}

func count(r *model.Release, kind model.ObservationKind) int {
	from, to := r.ObservationsOfKind(kind)
	return int(to - from)
}
