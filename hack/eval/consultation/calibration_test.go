// SPDX-License-Identifier: Apache-2.0

package consultation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrintCalibration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		predictions []Prediction
		want        []string
	}{
		"empty":               {nil, []string{"calibration of the first condition: expected error 0.000", "  predicted  observed  patients", "", ""}},
		"certain and correct": {[]Prediction{{1, true}}, []string{"calibration of the first condition: expected error 0.000", "  predicted  observed  patients", "       1.00      1.00         1", "", ""}},
		"overconfident":       {[]Prediction{{0.9, true}, {0.9, false}}, []string{"calibration of the first condition: expected error 0.400", "  predicted  observed  patients", "       0.90      0.50         2", "", ""}},
		"two bins": {[]Prediction{{0.2, false}, {0.2, false}, {0.2, true}, {0.6, true}}, []string{
			"calibration of the first condition: expected error 0.200", "  predicted  observed  patients", "       0.20      0.33         3", "       0.60      1.00         1", "", "",
		}},
	} {
		var out strings.Builder
		PrintCalibration(&out, test.predictions)
		if diff := cmp.Diff(test.want, strings.Split(out.String(), "\n")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
