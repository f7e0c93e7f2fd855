// SPDX-License-Identifier: Apache-2.0

package consultation

import (
	"fmt"
	"io"
	"math"
)

// A Claim is the probability that a verdict gave its first condition, and
// whether that was the right one.
type Claim struct {
	Probability float64
	Right       bool
}

// A bin holds the claims whose probability is of the same tenth.
type bin struct {
	count       int
	probability float64 // the mean of what was said
	right       float64 // how often it was so
}

// calibration compares what was said with what was so. The expected error is
// the mean distance of the two, each bin weighed by its claims (Naeini et al.
// 2015).
func calibration(claims []Claim) (bins [10]bin, expectedError float64) {
	for _, c := range claims {
		b := &bins[min(9, int(10*c.Probability))]
		b.count++
		b.probability += c.Probability
		if c.Right {
			b.right++
		}
	}
	for i := range bins {
		if b := &bins[i]; b.count > 0 {
			b.probability /= float64(b.count)
			b.right /= float64(b.count)
			expectedError += math.Abs(b.probability-b.right) * float64(b.count) / float64(len(claims))
		}
	}
	return bins, expectedError
}

// PrintCalibration prints by tenth of probability how often the first condition
// was the right one.
func PrintCalibration(out io.Writer, claims []Claim) {
	bins, expectedError := calibration(claims)
	fmt.Fprintf(out, "calibration of the first condition: expected error %.3f\n  said   was    patients\n", expectedError)
	for _, b := range bins {
		if b.count > 0 {
			fmt.Fprintf(out, "  %.2f   %.2f   %d\n", b.probability, b.right, b.count)
		}
	}
	fmt.Fprintln(out)
}
