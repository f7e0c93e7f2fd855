// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// describeMisfit names the field that does not fit and what was expected of
// it. The JSON is the value of the field within, of the whole body when that is
// empty.
func describeMisfit(within string, err *jsonv2.SemanticError) string {
	field := within + fieldOf(err.JSONPointer)
	if field = strings.TrimPrefix(field, "."); field == "" {
		field = "the body"
	}
	return fmt.Sprintf("%s: expected %s, got %s", field, expectedKind(err.GoType), gotKind(err))
}

// fieldOf writes a place in a body as clients know it, such as
// .evidence[1].id.
func fieldOf(place jsontext.Pointer) string {
	var field strings.Builder
	for token := range place.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			field.WriteString("[" + token + "]")
		} else {
			field.WriteString("." + assessment.Shorten(token))
		}
	}
	return field.String()
}

func expectedKind(of reflect.Type) string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
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

func gotKind(err *jsonv2.SemanticError) string {
	switch err.JSONKind {
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case '0':
		if len(err.JSONValue) > 0 { // a number, but not one of this kind
			return assessment.Shorten(string(err.JSONValue))
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
