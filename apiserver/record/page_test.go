// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlice(t *testing.T) {
	t.Parallel()
	list := []string{"a", "b", "c"}
	for _, test := range []struct {
		page Page
		want []string
	}{
		{Page{Limit: 2}, []string{"a", "b"}},
		{Page{Offset: 2, Limit: 2}, []string{"c"}},
		{Page{Offset: 3, Limit: 2}, []string{}},
		{Page{Offset: 1 << 50, Limit: 50}, []string{}},
		{Page{}, []string{}},
	} {
		if diff := cmp.Diff(test.want, Slice(list, test.page)); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", test.page, diff)
		}
	}
}
