// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A duplicateValue is a validation error: items of a list share a value that must be
// unique, in a field that is not part of the list's key.
type duplicateValue struct {
	// listPath is the path of the list, without the indexes of list items.
	listPath []string
	// field of the items that must be unique.
	field string
}

// listIndexPattern matches a list index as the API server formats it.
var listIndexPattern = regexp.MustCompile(`\[[^]]*\]`)

// duplicateValues returns the duplicates because of which the API server rejected a write.
func duplicateValues(rejection error) []duplicateValue {
	var found []duplicateValue
	for _, cause := range invalidCauses(rejection) {
		if cause.Type != metav1.CauseTypeFieldValueDuplicate {
			continue
		}
		names := strings.Split(listIndexPattern.ReplaceAllString(cause.Field, ""), ".")
		last := len(names) - 1
		found = append(found, duplicateValue{listPath: names[:last], field: names[last]})
	}
	return found
}

// invalidCauses returns the causes of an Invalid error, or nil for other errors.
func invalidCauses(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// immutableFields returns the immutable fields because of which the API server rejected a
// write. It returns nil if the write was also rejected for any other reason.
func immutableFields(rejection error) []string {
	var names []string
	for _, cause := range invalidCauses(rejection) {
		if !strings.Contains(cause.Message, "immutable") {
			return nil
		}
		names = append(names, cause.Field)
	}
	return names
}
