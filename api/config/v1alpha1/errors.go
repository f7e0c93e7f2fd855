// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"fmt"
	"strings"
)

// A FieldError reports an invalid field.
type FieldError struct {
	// Field is the path of the field, such as plans.gold.triage or cors.allowedOrigins[1].
	Field string
	// Detail describes the problem or the expected value.
	Detail string
}

// Error returns the path and the detail.
func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// An ErrorList reports all invalid fields.
type ErrorList []*FieldError

// Error joins the errors on a single line.
func (l ErrorList) Error() string {
	texts := make([]string, len(l))
	for i, err := range l {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// PrefixFields adds a prefix to the path of each field in an ErrorList. It returns other
// errors unchanged.
func PrefixFields(prefix string, err error) error {
	var list ErrorList
	if !errors.As(err, &list) {
		return err
	}
	prefixed := make(ErrorList, len(list))
	for i, e := range list {
		prefixed[i] = &FieldError{prefix + e.Field, e.Detail}
	}
	return prefixed
}

// add adds an error.
func (l *ErrorList) add(field, format string, args ...any) {
	*l = append(*l, &FieldError{field, fmt.Sprintf(format, args...)})
}

// addError adds an error unless it is nil.
func (l *ErrorList) addError(field string, err error) {
	if err != nil {
		*l = append(*l, &FieldError{field, err.Error()})
	}
}

// toError returns the list as an error, or nil if it is empty.
func (l ErrorList) toError() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
