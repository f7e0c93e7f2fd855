// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// describeSemanticError describes the invalid field and the expected value. The error refers
// to the field parent, or to the whole body if parent is empty.
func describeSemanticError(parent string, err *jsonv2.SemanticError) string {
	field := parent + formatFieldPath(err.JSONPointer)
	if field = strings.TrimPrefix(field, "."); field == "" {
		field = "the body"
	}
	return fmt.Sprintf("%s: expected %s, got %s", field, describeExpectedType(err.GoType), describeActualValue(err))
}

// formatFieldPath formats a JSON pointer as a field path such as .evidence[1].id.
func formatFieldPath(pointer jsontext.Pointer) string {
	var field strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			field.WriteString("[" + token + "]")
		} else {
			field.WriteString("." + assessment.Truncate(token))
		}
	}
	return field.String()
}

func describeExpectedType(expectedType reflect.Type) string {
	if expectedType.Kind() == reflect.Pointer {
		expectedType = expectedType.Elem()
	}
	switch expectedType.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

func describeActualValue(err *jsonv2.SemanticError) string {
	switch err.JSONKind {
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case '0':
		if len(err.JSONValue) > 0 { // a number, but of the wrong kind
			return assessment.Truncate(string(err.JSONValue))
		}
		return "a number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	default:
		return "null"
	}
}
