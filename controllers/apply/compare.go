// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// listKeys names, for each list whose items several owners may hold, the fields
// that tell its items apart, as the Kubernetes API declares them. Every other
// list belongs to one owner as a whole, in its order.
var listKeys = map[string][]string{
	"metadata.ownerReferences":                       {"uid"},
	"spec.ports":                                     {"port", "protocol"},
	"spec.template.spec.containers":                  {"name"},
	"spec.template.spec.containers.env":              {"name"},
	"spec.template.spec.containers.ports":            {"containerPort", "protocol"},
	"spec.template.spec.containers.volumeMounts":     {"mountPath"},
	"spec.template.spec.imagePullSecrets":            {"name"},
	"spec.template.spec.initContainers":              {"name"},
	"spec.template.spec.initContainers.env":          {"name"},
	"spec.template.spec.initContainers.volumeMounts": {"mountPath"},
	"spec.template.spec.topologySpreadConstraints":   {"topologyKey", "whenUnsatisfiable"},
	"spec.template.spec.volumes":                     {"name"},
}

// quantityFields hold quantities: two ways to write the same number are equal.
var quantityFields = []string{"limits", "requests", "sizeLimit"}

// Difference gives the path of the first field that is sent and not so in the
// live object, or nothing. Fields that only the live object has do not count.
func Difference(sent, live map[string]any) string {
	return differenceOfMaps(nil, sent, live)
}

func difference(path []string, sent, live any) string {
	switch sent := sent.(type) {
	case map[string]any:
		if fields, ok := live.(map[string]any); ok {
			return differenceOfMaps(path, sent, fields)
		}
		return strings.Join(path, ".")
	case []any:
		items, ok := live.([]any)
		if !ok && len(sent) > 0 {
			return strings.Join(path, ".")
		}
		return differenceOfLists(path, sent, items)
	}
	if equalScalars(path, sent, live) {
		return ""
	}
	return strings.Join(path, ".")
}

func differenceOfMaps(path []string, sent, live map[string]any) string {
	for _, key := range sortedKeys(sent) {
		if found := difference(append(slices.Clip(path), key), sent[key], live[key]); found != "" {
			return found
		}
	}
	return ""
}

func sortedKeys(fields map[string]any) []string {
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func differenceOfLists(path []string, sent, live []any) string {
	name := strings.Join(path, ".")
	if keys, shared := listKeys[name]; shared {
		return differenceOfItems(path, keys, sent, live)
	}
	if len(sent) != len(live) {
		return name
	}
	for i := range sent {
		// An item of a list with one owner is no place where lists with several
		// begin: the position in its path keeps listKeys from matching.
		if found := difference(append(slices.Clip(path), strconv.Itoa(i)), sent[i], live[i]); found != "" {
			return found
		}
	}
	return ""
}

// differenceOfItems compares each item that is sent with the live one that has
// the same key, wherever it stands.
func differenceOfItems(path, keys []string, sent, live []any) string {
	for _, item := range sent {
		wanted, ok := item.(map[string]any)
		if !ok {
			return strings.Join(path, ".")
		}
		found := findItem(keys, wanted, live)
		if found == nil {
			return strings.Join(path, ".")
		}
		if different := differenceOfMaps(path, wanted, found); different != "" {
			return different
		}
	}
	return ""
}

// findItem gives the live item with the same key; a part of the key that is not
// sent is defaulted by the API server and matches anything.
func findItem(keys []string, wanted map[string]any, live []any) map[string]any {
	for _, item := range live {
		candidate, ok := item.(map[string]any)
		if !ok {
			continue
		}
		same := true
		for _, key := range keys {
			value, isSent := wanted[key]
			same = same && (!isSent || value == candidate[key])
		}
		if same {
			return candidate
		}
	}
	return nil
}

// equalScalars compares two values that are neither maps nor lists. A zero that
// is sent equals a field left out, because the API leaves zeros out.
func equalScalars(path []string, sent, live any) bool {
	if sent == live {
		return true
	}
	if live == nil {
		return sent == nil || sent == false || sent == "" || sent == int64(0)
	}
	return isQuantity(path) && equalQuantities(sent, live)
}

func isQuantity(path []string) bool {
	return slices.ContainsFunc(quantityFields, func(field string) bool { return slices.Contains(path, field) })
}

func equalQuantities(sent, live any) bool {
	one, sentIsQuantity := quantity(sent)
	other, liveIsQuantity := quantity(live)
	return sentIsQuantity && liveIsQuantity && one.Cmp(other) == 0
}

func quantity(value any) (resource.Quantity, bool) {
	switch value := value.(type) {
	case int64:
		return *resource.NewQuantity(value, resource.DecimalSI), true
	case string:
		parsed, err := resource.ParseQuantity(value)
		return parsed, err == nil
	}
	return resource.Quantity{}, false
}
