// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Problem is an error in the content with its position.
type Problem struct {
	File   string
	Line   int // 1-based; 0 means the whole file
	Reason string
}

// Error returns file:line: reason, a format that editors and terminals can link.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
}

// Problems collects the errors in the content. The zero value is empty.
type Problems struct {
	list       []Problem
	unreadable bool
}

// Addf adds a problem.
func (p *Problems) Addf(at Position, format string, args ...any) {
	p.list = append(p.list, Problem{File: at.File, Line: at.Line, Reason: fmt.Sprintf(format, args...)})
}

// List returns all problems, sorted by file and line.
func (p *Problems) List() []Problem {
	return slices.SortedStableFunc(slices.Values(p.list), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// Unreadable reports whether a file is not valid YAML or has a duplicate key, or
// whether the base of a language is invalid. The affected content was not read and
// would appear to be missing.
func (p *Problems) Unreadable() bool { return p.unreadable }

// Err returns nil if there are no problems, or a ValidationError with all problems.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return ValidationError(p.List())
}

// ValidationError is the error for content with problems. Its message has one line per
// problem.
type ValidationError []Problem

func (e ValidationError) Error() string {
	lines := make([]string, len(e))
	for i, problem := range e {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// WithBaseDir returns the error with dir prepended to all file names.
func (e ValidationError) WithBaseDir(dir string) ValidationError {
	outside := slices.Clone(e)
	for i := range outside {
		outside[i].File = path.Join(dir, outside[i].File)
	}
	return outside
}
