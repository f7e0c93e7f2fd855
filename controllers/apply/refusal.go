// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A duplicate is a complaint of the API server: that items of a list share a
// value which each must have for itself, beside the key.
type duplicate struct {
	// list is the way to the list, without the positions of items on it.
	list []string
	// field of the items.
	field string
}

// position is how the API server writes the position of an item in a list.
var position = regexp.MustCompile(`\[[^]]*\]`)

// duplicates gives what the API server said to be there twice when it refused a
// write.
func duplicates(refusal error) []duplicate {
	var found []duplicate
	for _, cause := range causesOf(refusal) {
		if cause.Type != metav1.CauseTypeFieldValueDuplicate {
			continue
		}
		names := strings.Split(position.ReplaceAllString(cause.Field, ""), ".")
		last := len(names) - 1
		found = append(found, duplicate{list: names[:last], field: names[last]})
	}
	return found
}

// causesOf gives what the API server found invalid; nothing for another error.
func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// immutableFields gives the fields that nobody can change, where the API server
// refused a write for their sake and for nothing else.
func immutableFields(refusal error) []string {
	var names []string
	for _, cause := range causesOf(refusal) {
		if !strings.Contains(cause.Message, "immutable") {
			return nil
		}
		names = append(names, cause.Field)
	}
	return names
}
