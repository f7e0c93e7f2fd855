// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
)

// marshalDocument marshals a value that is stored as a JSON document.
func marshalDocument(what string, document any) (string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", what, err)
	}
	return string(text), nil
}

// unmarshalDocument unmarshals a stored document. Errors contain none of its content.
func unmarshalDocument[T any](what, text string) (document T, err error) {
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		var zero T
		return zero, fmt.Errorf("decoding stored %s: unexpected format", what)
	}
	return document, nil
}

func unmarshalDocuments[T any](what string, texts []string) ([]T, error) {
	documents := make([]T, len(texts))
	for i, text := range texts {
		var err error
		if documents[i], err = unmarshalDocument[T](what, text); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// readDocument unmarshals the document that a query read, or returns the query's error.
func readDocument[T any](ctx context.Context, t *Tx, what, text string, err error) (document T, _ error) {
	if err != nil {
		return document, t.wrapFound(ctx, "reading "+what, err)
	}
	return unmarshalDocument[T](what, text)
}
