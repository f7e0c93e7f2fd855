// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
)

// marshalDocument marshals a value that is stored as a JSON document.
func marshalDocument(name string, document any) (string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", name, err)
	}
	return string(text), nil
}

// unmarshalDocument unmarshals a stored document. Errors contain none of its content.
func unmarshalDocument[T any](name, text string) (document T, err error) {
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		var zero T
		return zero, fmt.Errorf("decoding stored %s: unexpected format", name)
	}
	return document, nil
}

func unmarshalDocuments[T any](name string, texts []string) ([]T, error) {
	documents := make([]T, len(texts))
	for i, text := range texts {
		var err error
		if documents[i], err = unmarshalDocument[T](name, text); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// readDocument unmarshals the document that a query returned, or wraps the query's error.
func readDocument[T any](ctx context.Context, t *Tx, name, text string, err error) (document T, _ error) {
	if err != nil {
		return document, t.wrapFound(ctx, "reading "+name, err)
	}
	return unmarshalDocument[T](name, text)
}
