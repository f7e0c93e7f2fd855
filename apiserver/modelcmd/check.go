// SPDX-License-Identifier: Apache-2.0

package modelcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
)

// Check is the command that checks content sources or, with Models set, the release files
// that a server is configured to serve.
type Check struct {
	Content    string   `help:"Directory of content sources to check. Defaults to the built-in content." type:"existingdir" xor:"what"`
	Models     string   `help:"Directory of release files to check instead of content sources." type:"path" xor:"what"`
	Model      []string `help:"Model that --models must contain, as an id or id@version (repeatable). Defaults to the newest version of every id."`
	Brief      bool     `help:"Count the gaps in the content sources instead of listing them."`
	JSON       bool     `help:"Print JSON." name:"json"`
	ResultFile string   `help:"Also write the JSON result to this file." type:"path"`
}

// Run prints the results. It returns an error if the check failed; with JSON or
// ResultFile, the result includes the error too.
func (c *Check) Run(out io.Writer) error {
	if c.Models == "" && len(c.Model) > 0 {
		return errors.New("--model requires --models with the directory of release files")
	}
	result, err := c.run()
	if err != nil {
		result = checkFailure{Error: truncate(err.Error())}
	}
	return errors.Join(err, c.writeResult(out, result, err != nil))
}

func (c *Check) run() (result fmt.Stringer, err error) {
	if c.Models != "" {
		return checkReleases(c.Models, c.Model)
	}
	results, err := compileAll(c.Content)
	if err != nil {
		return nil, err
	}
	reports := contentResult{summary: c.Brief}
	for _, result := range results {
		reports.Reports = append(reports.Reports, result.Report)
	}
	return reports, reports.checkIndistinguishable()
}

// writeResult prints the result, except for failures in plain text, which the caller
// prints.
func (c *Check) writeResult(out io.Writer, result fmt.Stringer, failed bool) error {
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encoding the check result: %w", err)
	}
	if c.ResultFile != "" {
		if err := os.WriteFile(c.ResultFile, data, 0o600); err != nil {
			return fmt.Errorf("writing the check result: %w", err)
		}
	}
	switch {
	case c.JSON:
		_, err = fmt.Fprintf(out, "%s\n", data)
	case !failed:
		_, err = io.WriteString(out, result.String())
	}
	return err
}

// checkFailure is the result of a failed check.
type checkFailure struct {
	Error string `json:"error"`
}

func (f checkFailure) String() string { return f.Error + "\n" }

// truncate shortens a message to fit the 4 KiB that Kubernetes keeps of a termination
// message, including quotes and escapes.
func truncate(message string) string {
	const limit = 2000
	if len(message) <= limit {
		return message
	}
	runes := []rune(message)
	return string(runes[:min(len(runes), limit)]) + "…"
}

// contentResult is the result of checking content.
type contentResult struct {
	Reports []compile.Report `json:"reports"`
	summary bool
}

// checkIndistinguishable rejects content with indistinguishable pairs of conditions. Such
// content compiles, so that authors can work step by step, but is not finished.
func (r contentResult) checkIndistinguishable() error {
	for _, report := range r.Reports {
		if pairs := report.Indistinguishable; len(pairs) > 0 {
			return fmt.Errorf("%d pairs of conditions of %s have indistinguishable findings: add findings that separate them, or list them under alike with a reason:\n%s",
				len(pairs), report.Model, strings.Join(pairs, "\n"))
		}
	}
	return nil
}

func (r contentResult) String() string {
	var text string
	for _, report := range r.Reports {
		if r.summary {
			text += report.Summary()
		} else {
			text += report.String()
		}
	}
	return text
}

// releasesResult is the result of checking release files.
type releasesResult struct {
	Models []releaseSummary `json:"models"`
}

type releaseSummary struct {
	ID          string `json:"id"`
	Version     string `json:"version"`
	Conditions  int    `json:"conditions"`
	Symptoms    int    `json:"symptoms"`
	RiskFactors int    `json:"riskFactors"`
	LabTests    int    `json:"labTests"`
}

func (r releasesResult) String() string {
	var text string
	for _, m := range r.Models {
		text += fmt.Sprintf("%s %s: %d conditions, %d symptoms, %d risk factors, %d laboratory tests\n", m.ID, m.Version, m.Conditions, m.Symptoms, m.RiskFactors, m.LabTests)
	}
	return text
}

// checkReleases opens the releases as a server would.
func checkReleases(dir string, names []string) (result fmt.Stringer, err error) {
	var refs []model.ReleaseRef
	for _, name := range names {
		ref, err := model.ParseReleaseRef(name)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	store, err := model.OpenStore(dir, refs)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var found releasesResult
	for _, meta := range store.Releases() {
		lease, err := store.Acquire(meta.ModelID)
		if err != nil {
			return nil, err
		}
		r := lease.Release()
		found.Models = append(found.Models, releaseSummary{
			ID:          meta.ModelID,
			Version:     meta.Version,
			Conditions:  len(r.Conditions),
			Symptoms:    countObservations(r, model.Symptom),
			RiskFactors: countObservations(r, model.RiskFactor),
			LabTests:    len(r.LabTests),
		})
		lease.Done()
	}
	return found, nil
}

func countObservations(r *model.Release, kind model.ObservationKind) int {
	from, to := r.ObservationsOfKind(kind)
	return int(to - from)
}
