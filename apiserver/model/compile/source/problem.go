// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong with the content, and where.
type Problem struct {
	File   string
	Line   int // from 1, or 0 when the file as a whole is meant
	Reason string
}

// Error is file:line: reason, which editors and terminals can follow.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
}

// Problems are all that is wrong with the content. The zero value has none.
type Problems struct {
	list   []Problem
	broken bool
}

// Add notes a problem.
func (p *Problems) Add(at Position, format string, args ...any) {
	p.list = append(p.list, Problem{File: at.File, Line: at.Line, Reason: fmt.Sprintf(format, args...)})
}

// List is every problem, by file and line.
func (p *Problems) List() []Problem {
	return slices.SortedStableFunc(slices.Values(p.list), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// Broken reports whether some file is not YAML or has a key twice, or the base
// of a language is none, so that what it holds was not read and would seem not
// to be there.
func (p *Problems) Broken() bool { return p.broken }

// Err is nil when there are no problems, else an Error with all of them.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return Error(p.List())
}

// Error is the error of content that has problems: one line for each.
type Error []Problem

func (e Error) Error() string {
	lines := make([]string, len(e))
	for i, problem := range e {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// In is the error with file names as seen from outside the content's
// directory.
func (e Error) In(dir string) Error {
	outside := slices.Clone(e)
	for i := range outside {
		outside[i].File = path.Join(dir, outside[i].File)
	}
	return outside
}
