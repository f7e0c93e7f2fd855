// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
